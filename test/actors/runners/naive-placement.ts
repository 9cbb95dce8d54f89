import type { PlacementPool } from "../../../actors/runners/placement.js";
import { getLane, type LaneRow } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import type { ClaimRow, QueuedRun, RunNeeds } from "../../../actors/runners/runner.table.js";

/**
 * The rows from which the functions of this file compute placement.
 *
 * The functions compute each answer from the rows, run by run and runner by runner. This is slow, but simple enough to
 * verify by reading. Tests compare the product's placement with it.
 */
export interface PlacementState {
  readonly runners: readonly RunnerRow[];
  readonly pools: readonly PlacementPool[];
  readonly claims: readonly ClaimRow[];
  readonly lanes: readonly LaneRow[];
  readonly defaultPoolId: string | null;
  readonly maxRuns: number | null;
  readonly besideWorkPercent: number;
}

interface Assignment {
  readonly run: QueuedRun;
  readonly runner: RunnerRow;
}

/** Maximum number of labels or harnesses named in one sentence. */
const NAMES_SHOWN = 10;

/**
 * Assigns runs to runners. The lane `work` comes first; then the other lanes take turns. In a lane, the oldest run that
 * fits a runner comes first. It goes to the fitting runner with the most free slots. Returns the assignments, and the
 * rows after them.
 */
export function assignRuns(
  queue: readonly QueuedRun[],
  before: PlacementState,
): { readonly assignments: readonly Assignment[]; readonly state: PlacementState } {
  const assignments: Assignment[] = [];
  let state = before;
  const waiting = [...queue].sort(byAge);
  const place = (runs: readonly QueuedRun[]): boolean => {
    for (const run of runs) {
      const runner = bestRunner(run, state);
      if (runner === null) continue;
      state = withClaim(run, runner, state);
      assignments.push({ run, runner });
      waiting.splice(waiting.indexOf(run), 1);
      return true;
    }
    return false;
  };
  const isIn = (lane: string) => (run: QueuedRun) => getLane(run) === lane;
  while (place(waiting.filter(isIn("work"))));
  const others = () => [...new Set(waiting.map(getLane))].filter((lane) => lane !== "work").sort(inTurn(state));
  while (others().some((lane) => place(waiting.filter(isIn(lane)))));
  return { assignments, state };
}

function bestRunner(run: QueuedRun, state: PlacementState): RunnerRow | null {
  let best: RunnerRow | null = null;
  for (const runner of state.runners) {
    if (reasonAgainst(run, runner, state) !== null) continue;
    if (best === null || isBetter(runner, best, state)) best = runner;
  }
  return best;
}

function withClaim(run: QueuedRun, { runnerId, poolId }: RunnerRow, state: PlacementState): PlacementState {
  const lane = getLane(run);
  const served = Math.max(0, ...state.lanes.map((row) => row.served)) + 1;
  const others = state.lanes.filter((row) => row.lane !== lane);
  const row = state.lanes.find((row) => row.lane === lane) ?? { lane, maxClaims: null, served: 0 };
  return {
    ...state,
    claims: [...state.claims, { runnerId, runId: run.runId, poolId, ...(lane === "work" ? {} : { lane }) }],
    lanes: lane === "work" ? state.lanes : [...others, { ...row, served }],
  };
}

function inTurn({ lanes }: PlacementState) {
  const served = (lane: string) => lanes.find((row) => row.lane === lane)?.served ?? 0;
  return (left: string, right: string) => served(left) - served(right) || (left < right ? -1 : 1);
}

/** Explains in a sentence for users why no runner takes the run now. Returns null if a runner can take it. */
export function waitingReason(run: RunNeeds & { readonly lane?: string }, state: PlacementState): string | null {
  const lane = getLane(run);
  const reason = findReason({ ...run, lane }, state);
  return reason === null || lane === "work" ? reason : `In the lane ${lane}: ${reason}`;
}

function findReason(run: RunNeeds & { readonly lane: string }, state: PlacementState): string | null {
  const wanted = lookUpPool(run, state);
  const pool = wanted === null ? undefined : findPool(wanted, state);
  if (wanted !== null && pool === undefined) return "The station's runner pool was deleted.";
  const where = pool === undefined ? "of the workspace" : `of pool ${pool.key}`;
  const connected = state.runners.filter((runner) => runner.connected && isInPool(run, runner, state));
  if (connected.length === 0) return `No runner ${where} is connected.`;
  const labelled = connected.filter((runner) => missingLabels(run, runner, state).length === 0);
  if (labelled.length === 0) {
    const had = named(
      connected.flatMap((runner) => [...runner.labels, ...(findPool(runner.poolId, state)?.labels ?? [])]),
    );
    return `No connected runner ${where} has ${labelsText(run.labels)}; the connected ones have ${had}.`;
  }
  const fitting = labelled.filter((runner) => runner.harnesses.includes(run.harness));
  if (fitting.length === 0) {
    const offered = named(labelled.flatMap(({ harnesses }) => harnesses));
    return `No connected runner ${where} offers the harness ${run.harness}; they offer ${offered}.`;
  }
  if (!fitting.some((runner) => missingFeatures(run, runner).length === 0)) {
    return `Every matching connected runner ${where} has a release that does not support such runs.`;
  }
  const knowing = fitting.filter((runner) => missingFeatures(run, runner).length === 0);
  const reasons = knowing.map((runner) => reasonAgainst(run, runner, state));
  if (reasons.includes(null)) return null;
  if (reasons.includes("workspace")) return `The workspace allows no more than ${state.maxRuns} runs at once.`;
  if (reasons.includes("lane")) return `No more than ${findLane(run.lane, state)?.maxClaims} runs at once are allowed.`;
  return reasons.includes("slots")
    ? `Every matching runner ${where} is busy: ${slotsText(knowing, state)}.`
    : `No more runs at once are allowed ${where}: ${limitsText(knowing, run, state)}.`;
}

function limitsText(fitting: readonly RunnerRow[], run: RunNeeds & { readonly lane: string }, state: PlacementState) {
  const full = [...new Set(fitting.map(({ poolId }) => poolId))].flatMap((id) => findPool(id, state) ?? []);
  return full
    .map((pool) =>
      run.lane === "work" || isAtConcurrency(pool, state)
        ? `the concurrency of ${pool.key} is ${pool.concurrency}`
        : `replays, checks and searches may use ${maxBesideWork(pool, state)} of the slots of ${pool.key}`,
    )
    .join(", ");
}

function slotsText(fitting: readonly RunnerRow[], state: PlacementState): string {
  const slots = fitting.reduce((sum, runner) => sum + runner.slots, 0);
  if (slots === 0) return "they are draining";
  const taken = fitting.reduce((sum, runner) => sum + heldBy(runner, state), 0);
  return `${taken} of ${slots} slots are in use`;
}

/** Lists the first names, each once, for a sentence. */
function named(names: readonly string[]): string {
  const all = [...new Set(names)].sort();
  if (all.length === 0) return "none";
  const more = all.length - NAMES_SHOWN;
  return all.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function labelsText(labels: readonly string[]): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `the labels ${labels.join(", ")}`;
}

type ReasonAgainst =
  | "workspace"
  | "lane"
  | "away"
  | "pool"
  | "labels"
  | "harness"
  | "features"
  | "slots"
  | "concurrency"
  | "beside-work";

function reasonAgainst(
  run: RunNeeds & { readonly lane?: string },
  runner: RunnerRow,
  state: PlacementState,
): ReasonAgainst | null {
  const { claims, maxRuns } = state;
  const lane = getLane(run);
  if (maxRuns !== null && claims.length >= maxRuns) return "workspace";
  const most = findLane(lane, state)?.maxClaims ?? null;
  if (most !== null && claims.filter((claim) => getLane(claim) === lane).length >= most) return "lane";
  if (!runner.connected) return "away";
  if (!isInPool(run, runner, state)) return "pool";
  if (missingLabels(run, runner, state).length > 0) return "labels";
  if (!runner.harnesses.includes(run.harness)) return "harness";
  if (missingFeatures(run, runner).length > 0) return "features";
  if (freeSlots(runner, state) <= 0) return "slots";
  const pool = findPool(runner.poolId, state);
  if (pool === undefined) return "pool";
  if (isAtConcurrency(pool, state)) return "concurrency";
  const besideWork = claimsIn(pool, state).filter((claim) => getLane(claim) !== "work").length;
  return lane !== "work" && besideWork >= maxBesideWork(pool, state) ? "beside-work" : null;
}

function isAtConcurrency(pool: PlacementPool, state: PlacementState): boolean {
  return pool.concurrency !== null && claimsIn(pool, state).length >= pool.concurrency;
}

function maxBesideWork(pool: PlacementPool, { runners, besideWorkPercent }: PlacementState): number {
  const connected = runners.filter(({ poolId, connected }) => connected && poolId === pool.id);
  const slots = connected.reduce((sum, runner) => sum + runner.slots, 0);
  return Math.max(1, Math.floor((slots * besideWorkPercent) / 100));
}

/** Returns the claims of runners that are in the pool now. */
function claimsIn(pool: PlacementPool, { runners, claims }: PlacementState): ClaimRow[] {
  const members = runners.filter(({ poolId }) => poolId === pool.id);
  return claims.filter((claim) => members.some(({ runnerId }) => runnerId === claim.runnerId));
}

/**
 * Whether the runner is in the pool that the run needs. A run without a pool fits every pool that exists. A runner
 * whose pool was removed gets no more runs.
 */
function isInPool(run: RunNeeds, runner: RunnerRow, state: PlacementState): boolean {
  const wanted = lookUpPool(run, state);
  return findPool(runner.poolId, state) !== undefined && (wanted === null || wanted === runner.poolId);
}

function lookUpPool({ poolId }: RunNeeds, { defaultPoolId }: PlacementState): string | null {
  return poolId ?? defaultPoolId;
}

function findPool(id: string, { pools }: PlacementState): PlacementPool | undefined {
  return pools.find((pool) => pool.id === id);
}

function findLane(lane: string, { lanes }: PlacementState): LaneRow | undefined {
  return lanes.find((row) => row.lane === lane);
}

function missingLabels(run: RunNeeds, runner: RunnerRow, state: PlacementState): string[] {
  const ofPool = findPool(runner.poolId, state)?.labels ?? [];
  return run.labels.filter((label) => !runner.labels.includes(label) && !ofPool.includes(label));
}

function missingFeatures({ features = [] }: RunNeeds, runner: RunnerRow): string[] {
  return features.filter((feature) => !(runner.features ?? []).includes(feature));
}

function byAge(left: QueuedRun, right: QueuedRun): number {
  return left.queuedAtMs - right.queuedAtMs || (left.runId < right.runId ? -1 : 1);
}

function isBetter(runner: RunnerRow, than: RunnerRow, state: PlacementState): boolean {
  const more = freeSlots(runner, state) - freeSlots(than, state);
  return more > 0 || (more === 0 && runner.runnerId < than.runnerId);
}

function heldBy({ runnerId }: RunnerRow, { claims }: PlacementState): number {
  return claims.filter((claim) => claim.runnerId === runnerId).length;
}

function freeSlots(runner: RunnerRow, state: PlacementState): number {
  return runner.slots - heldBy(runner, state);
}
