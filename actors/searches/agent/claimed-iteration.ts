import type { Reading } from "../../../storage/store.js";
import { findClaimedRun, type RunnerClaim } from "../../runs/run.queries.js";
import { findIteration } from "../iterations/search-iteration.table.js";
import type { SearchIterationRow } from "../search/search.js";

/**
 * Finds the iteration whose agent run this runner has claimed. Returns undefined if the claim is of another runner, run
 * or fence, or if the run or the iteration has ended.
 */
export function findClaimedIteration(
  reading: Reading,
  workspaceId: string,
  claim: RunnerClaim,
): SearchIterationRow | undefined {
  const run = findClaimedRun(reading, workspaceId, claim);
  if (run?.owner.kind !== "search") return undefined;
  const iteration = findIteration(reading, workspaceId, run.owner.id);
  const isOver = iteration?.state === "ended" || iteration?.state === "failed";
  return isOver || iteration?.runId !== run.id ? undefined : iteration;
}
