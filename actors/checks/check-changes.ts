import { type ChangeEntry, toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import { changedMembers } from "../tables/changed-members.js";
import type { PublishedWrite } from "../tables/on-write.js";
import type { ReplayCheckRow } from "./check.js";

/** The progress of a check, in the form that its stream publishes. */
type CheckProgress = Pick<
  ReplayCheckRow,
  "id" | "verdict" | "undecidedBecause" | "compared" | "regressed" | "decidedAt" | "endedAt"
>;

/**
 * A change on a check's stream. `replay-check` has the changed fields and the check's id. `deleted` means that the
 * check was removed.
 */
export type CheckChange =
  | { readonly type: "replay-check"; readonly check: Pick<CheckProgress, "id"> & Partial<CheckProgress> }
  | { readonly type: "deleted" };

export const replayCheckTopic = topic<CheckChange>("replay-check");

/** Returns the stream entries for a write to a check. Returns an empty array if no published field changed. */
export function checkChanges(
  check: ReplayCheckRow,
  { first }: Pick<PublishedWrite<ReplayCheckRow>, "first">,
): ChangeEntry[] {
  const changed = changedMembers(first === null ? null : toProgress(first), toProgress(check));
  if (Object.keys(changed).length === 0) return [];
  const { id } = check;
  return [toChangeEntry(replayCheckTopic(id), { type: "replay-check", check: { ...changed, id } })];
}

function toProgress(check: ReplayCheckRow): CheckProgress {
  const { id, verdict, undecidedBecause, compared, regressed, decidedAt, endedAt } = check;
  return { id, verdict, undecidedBecause, compared, regressed, decidedAt, endedAt };
}
