import type { Effect } from "../../runtime/cells/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";

/**
 * Waits until a workspace may remove a slice of old rows. In the process only one workspace at a time may do so, and
 * the workspaces alternate.
 */
export const RETENTION_TURN = effect<null, null>("retention.turn");

const retentionLane: LaneLimits = { name: "retention", places: 1, kept: 1, perClient: 1, perTarget: 1 };

/** Minimum time between two slices, in milliseconds. The process uses this time for other work. */
const PLACE_MS = 5;

export function retentionEffect({ clock }: { readonly clock: Clock }): Effect {
  return RETENTION_TURN.implement(
    retentionLane,
    () => new Promise((resolve) => void clock.at(clock.now() + PLACE_MS, () => resolve(null))),
  );
}
