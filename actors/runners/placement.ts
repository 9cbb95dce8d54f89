import type { QueuedRun, RunnerRow } from "./runner-rows.js";

/** A pool as placement sees it. */
export interface PlacementPool {
  readonly id: string;
  readonly key: string;
  /** Runs at once over all its runners; null for no bound. */
  readonly concurrency: number | null;
}

/** Everything placement decides over. */
export interface PlacementState {
  readonly runners: readonly RunnerRow[];
  readonly pools: readonly PlacementPool[];
  /** Claims by runner id. */
  readonly held: ReadonlyMap<string, number>;
}

export interface Assignment {
  readonly run: QueuedRun;
  readonly runner: RunnerRow;
}

/**
 * Gives queued runs to runners: the oldest run first, to the fitting runner with most free slots. A run that none fits
 * holds up no younger one.
 */
export function place(queue: readonly QueuedRun[], state: PlacementState): Assignment[] {
  const held = new Map(state.held);
  const assignments: Assignment[] = [];
  for (const run of queue) {
    const current = { ...state, held };
    const free = state.runners
      .filter((runner) => reasonAgainst(run, runner, current) === null)
      .sort(
        (left, right) => freeSlots(right, held) - freeSlots(left, held) || (left.runnerId < right.runnerId ? -1 : 1),
      );
    const runner = free[0];
    if (runner === undefined) continue;
    held.set(runner.runnerId, (held.get(runner.runnerId) ?? 0) + 1);
    assignments.push({ run, runner });
  }
  return assignments;
}

/** Why no runner takes the run now, in a sentence for a person; null when one can. */
export function waitingReason(run: QueuedRun, state: PlacementState): string | null {
  const pool = state.pools.find(({ id }) => id === run.poolId);
  if (run.poolId !== null && pool === undefined) return "The pool that the station names is gone.";
  const where = pool === undefined ? "of the workspace" : `of pool ${pool.key}`;
  const connected = state.runners.filter((runner) => runner.connected && isInPool(run, runner, state));
  if (connected.length === 0) return `No runner ${where} is connected.`;
  const labelled = connected.filter((runner) => missingLabels(run, runner).length === 0);
  if (labelled.length === 0) return `No connected runner ${where} has the labels ${run.labels.join(", ")}.`;
  const fitting = labelled.filter((runner) => runner.harnesses.includes(run.harness));
  if (fitting.length === 0) return `No connected runner ${where} offers the harness ${run.harness}.`;
  const reasons = fitting.map((runner) => reasonAgainst(run, runner, state));
  if (reasons.includes(null)) return null;
  return reasons.includes("slots")
    ? `Every fitting runner ${where} is busy.`
    : `The pool runs as many as its concurrency allows.`;
}

type ReasonAgainst = "away" | "pool" | "labels" | "harness" | "slots" | "concurrency";

function reasonAgainst(run: QueuedRun, runner: RunnerRow, state: PlacementState): ReasonAgainst | null {
  if (!runner.connected) return "away";
  if (!isInPool(run, runner, state)) return "pool";
  if (missingLabels(run, runner).length > 0) return "labels";
  if (!runner.harnesses.includes(run.harness)) return "harness";
  if (freeSlots(runner, state.held) <= 0) return "slots";
  const concurrency = state.pools.find(({ id }) => id === runner.poolId)?.concurrency ?? null;
  return concurrency !== null && heldInPool(runner.poolId, state) >= concurrency ? "concurrency" : null;
}

/** A runner of a pool that is gone takes nothing more. */
function isInPool(run: QueuedRun, runner: RunnerRow, { pools }: PlacementState): boolean {
  return pools.some(({ id }) => id === runner.poolId) && (run.poolId === null || run.poolId === runner.poolId);
}

function missingLabels(run: QueuedRun, runner: RunnerRow): string[] {
  return run.labels.filter((label) => !runner.labels.includes(label));
}

function freeSlots(runner: RunnerRow, held: ReadonlyMap<string, number>): number {
  return runner.slots - (held.get(runner.runnerId) ?? 0);
}

function heldInPool(poolId: string, { runners, held }: PlacementState): number {
  return runners
    .filter((runner) => runner.poolId === poolId)
    .reduce((sum, runner) => sum + (held.get(runner.runnerId) ?? 0), 0);
}
