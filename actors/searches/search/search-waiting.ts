import type { Reading } from "../../../storage/store.js";
import { listCopies } from "../../replays/copies/replay-copy.table.js";
import { listUnderWay } from "../../replays/replay/replay.table.js";
import { type WaitsFor, whatItWaitsFor } from "../../replays/replay/replay-waiting.js";
import { whyWaiting } from "../../runners/placement.queries.js";
import { runs, toQueuedRun } from "../../runs/run.table.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "./search.js";

export type { WaitsFor } from "../../replays/replay/replay-waiting.js";

/**
 * Returns what a running search waits for at the time of the read. Returns null if the search has ended, or if its
 * agent's run or any of its replays in progress does not wait. A wait for a runner is computed from the current
 * runners; no row stores it. `reading` should cache views, as for {@link whatItWaitsFor}.
 */
export function whatSearchWaitsFor(
  reading: Reading,
  workspaceId: string,
  search: SearchRow,
  iterations: readonly SearchIterationRow[],
): WaitsFor | null {
  if (!isSearchUnderWay(search)) return null;
  const agents = iterations
    .filter(({ state }) => state === "wanted" || state === "running")
    .map(({ runId }) => whatRunWaitsFor(reading, workspaceId, runId));
  const replayed = listUnderWay(reading, workspaceId, { teamId: search.teamId, setId: search.setId })
    .filter((replay) => replay.search?.searchId === search.id)
    .map((replay) => {
      const mayWait = replay.counts.running === 0 && replay.counts.queued > 0;
      const copies = mayWait ? listCopies(reading, workspaceId, replay.id) : [];
      return whatItWaitsFor(reading, workspaceId, { replay, copies });
    });
  const parts = [...agents, ...replayed];
  if (parts.includes(null)) return null;
  return parts.find((part) => part === "runner") ?? parts[0] ?? null;
}

function whatRunWaitsFor(reading: Reading, workspaceId: string, runId: string | null): WaitsFor | null {
  const run = runId === null ? undefined : runs.get(reading, workspaceId, runId);
  if (run?.state !== "queued") return null;
  return whyWaiting(reading, workspaceId, toQueuedRun(run)) === null ? null : "runner";
}
