import type { ReplayCopyRow } from "./replay-copy.table.js";

/** A copy that settled without a result, since its change is to be judged. Judging is not served yet: it is unscored. */
export function judgeSettled(copy: ReplayCopyRow): ReplayCopyRow {
  return { ...copy, state: "judged", result: "unscored", why: { code: "not-set-up", text: "Judging is not set up." } };
}
