import type { Reading } from "../../../storage/store.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { copyChange } from "../reads/replay-changes.js";
import type { ReplayCopyRow } from "../replay/replay.js";

/** Key: `[replay, place, repeat]` */
export const replayCopies = indexedTable<ReplayCopyRow>("replay-copy", {
  under: ["replayId"],
  order: ["place", "repeat"],
  indexes: { "replay-copy-of-run": { by: ["runId", "replayId"], has: ["runId"] } },
  changes: (copy) => [copyChange(copy)],
});

/** Whether the copy has stopped running. The copy may still be judged. */
export function isSettled({ state }: Pick<ReplayCopyRow, "state">): boolean {
  return state !== "waiting" && state !== "queued" && state !== "running";
}

/** Lists the copies of a replay, by place and then repeat: at most 250. */
export function listCopies(reading: Reading, workspaceId: string, replayId: string): readonly ReplayCopyRow[] {
  return replayCopies.list(reading, workspaceId, [replayId]);
}

/** Finds the copy whose newest attempt is this run; undefined if there is none. */
export function findCopyOfRun(
  reading: Reading,
  workspaceId: string,
  { replayId, runId }: { readonly replayId: string; readonly runId: string },
): ReplayCopyRow | undefined {
  return replayCopies.all(reading, workspaceId, { replayId, runId }, { limit: 1 })[0];
}
