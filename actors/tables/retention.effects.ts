import type { Effect } from "../../runtime/cells/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";

/**
 * Waits for a workspace's turn to remove old rows. One turn runs at a time in the process, and workspaces alternate.
 */
export const RETENTION_TURN = effect<null, null>("retention.turn");

const retentionLane: LaneLimits = { name: "retention", places: 1, kept: 1, perClient: 1, perTarget: 1 };

/** Duration of a turn in milliseconds: the time that the process has for other work between two slices. */
const PLACE_MS = 5;

export function retentionEffect({ clock }: { readonly clock: Clock }): Effect {
  return RETENTION_TURN.implement(
    retentionLane,
    () => new Promise((resolve) => void clock.at(clock.now() + PLACE_MS, () => resolve(null))),
  );
}
