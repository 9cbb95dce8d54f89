import type { Reading } from "../../../storage/store.js";
import { findHeldRun, type RunnerClaim } from "../../runs/run.queries.js";
import type { SearchIterationRow } from "../search.js";
import { findIteration } from "../search-iteration.table.js";

/**
 * The iteration whose agent the runner runs by this claim; undefined for any other runner, run or fence, and once the run
 * or the iteration has ended.
 */
export function findHeldIteration(
  reading: Reading,
  workspaceId: string,
  claim: RunnerClaim,
): SearchIterationRow | undefined {
  const run = findHeldRun(reading, workspaceId, claim);
  if (run?.owner.kind !== "search") return undefined;
  const iteration = findIteration(reading, workspaceId, run.owner.id);
  const isOver = iteration?.state === "ended" || iteration?.state === "failed";
  return isOver || iteration?.runId !== run.id ? undefined : iteration;
}
