import { assignRuns } from "../../../actors/runners/assign-runs.js";
import { Placement } from "../../../actors/runners/placement.js";
import { RunQueue } from "../../../actors/runners/run-queue.js";
import { isOlder, toLineKey } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import type { QueuedRun } from "../../../actors/runners/runner.table.js";
import type { PlacementState } from "./naive-placement.js";

/** Builds the product's placement from rows, in their given order. */
export function toPlacement(state: PlacementState): Placement {
  const { pools, defaultPoolId, maxRuns, besideWorkPercent } = state;
  const placement = new Placement({ pools, defaultPoolId, maxRuns, besideWorkPercent });
  for (const row of state.runners) placement.putRunner(row);
  for (const row of state.claims) placement.putClaim(row);
  for (const row of state.lanes) placement.lanes.put(row);
  return placement;
}

/** Places runs with the product's placement, like the dispatcher. Runs that fit no runner stay in the queue. */
export function place(
  runs: readonly QueuedRun[],
  placement: Placement,
): { readonly run: QueuedRun; readonly runner: RunnerRow }[] {
  const rows = new Map<string, QueuedRun[]>();
  for (const run of runs) rows.set(toLineKey(run), [...(rows.get(toLineKey(run)) ?? []), run]);
  for (const line of rows.values()) line.sort((left, right) => (isOlder(left, right) ? -1 : 1));
  const oldestRuns = (line: string, limit: number) => (rows.get(line) ?? []).slice(0, limit);
  const queue = new RunQueue(
    placement,
    [...rows.values()].flatMap(([run]) => run ?? []),
  );
  const placed = [];
  for (const { run, line, runner } of assignRuns({ queue, placement, oldestRuns })) {
    rows.set(
      line.key,
      (rows.get(line.key) ?? []).filter(({ runId }) => runId !== run.runId),
    );
    queue.remove(line.key, run, oldestRuns);
    placement.putClaim({ runnerId: runner.runnerId, runId: run.runId, poolId: runner.poolId, lane: line.lane });
    if (line.lane !== "work") {
      placement.lanes.put({ ...placement.lanes.row(line.lane), served: placement.lanes.nextServed() });
    }
    placed.push({ run, runner });
  }
  return placed;
}
