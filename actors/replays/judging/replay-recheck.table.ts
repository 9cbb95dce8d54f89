import type { Reading } from "../../../storage/store.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { secondLookChanges } from "../reads/second-look-changes.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import type { CopyKey } from "./replay-verdict.table.js";

/** A second check of a copy's change, in its own run. */
export interface ReplayRecheckRow extends CopyKey {
  /** `asked` once the second check is requested; `none` once it is certain that the check has no result. */
  readonly state: "asked" | "checked" | "none";
  /** The run of the current attempt, which has the complete output of the check; null if there is none. */
  readonly runId: string | null;
  /** The runs of earlier attempts whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Null unless checked. */
  readonly check: ReplayCopyRow["check"];
  /** Why the check has no result, as a sentence; otherwise null. */
  readonly reason: string | null;
}

/** Key: `[replay, place, repeat]` */
export const replayRechecks = indexedTable<ReplayRecheckRow>("replay-recheck", {
  under: ["replayId"],
  order: ["place", "repeat"],
  changes: (recheck, reading, { workspaceId }) => secondLookChanges(reading, workspaceId, recheck),
  indexes: { "replay-recheck-of-run": { by: ["runId", "replayId"], has: ["runId"] } },
});

/** Finds the second check whose newest attempt is this run; undefined if there is none. */
export function findRecheckOfRun(
  reading: Reading,
  workspaceId: string,
  { replayId, runId }: { readonly replayId: string; readonly runId: string },
): ReplayRecheckRow | undefined {
  return replayRechecks.all(reading, workspaceId, { replayId, runId }, { limit: 1 })[0];
}
