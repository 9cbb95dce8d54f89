import type { Effect } from "../../runtime/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import { effect } from "../../runtime/effect-type.js";
import type { LaneLimits } from "../../runtime/lane.js";

/** A turn of a workspace to remove what is stored too long: one at a time in the process, workspaces in turn. */
export const RETENTION_TURN = effect<null, null>("retention.turn");

const retentionLane: LaneLimits = { name: "retention", places: 1, kept: 1, perParty: 1, perTarget: 1 };

/** How long a turn holds its place, in milliseconds: what the process has to itself between two slices. */
const PLACE_MS = 5;

export function retentionEffect({ clock }: { readonly clock: Clock }): Effect {
  return RETENTION_TURN.implement(
    retentionLane,
    () => new Promise((resolve) => void clock.at(clock.now() + PLACE_MS, () => resolve(null))),
  );
}
