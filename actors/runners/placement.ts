import type { QueuedRun, RunNeeds, RunnerRow } from "./runner.table.js";

/** A pool as placement sees it. */
export interface PlacementPool {
  readonly id: string;
  readonly key: string;
  /** Labels of all its runners, beside their own. */
  readonly labels: readonly string[];
  /** Runs at once over all its runners; null for no bound. */
  readonly concurrency: number | null;
}

/** Labels or harnesses named in one sentence. */
const NAMES_SHOWN = 10;

/** Everything placement decides over. */
export interface PlacementState {
  readonly runners: readonly RunnerRow[];
  readonly pools: readonly PlacementPool[];
  /** Claims by runner id. */
  readonly held: ReadonlyMap<string, number>;
  /** The pool of runs that name none; null lets them go to any. */
  readonly defaultPoolId: string | null;
  /** Runs at once over all runners of the workspace; null for no bound. */
  readonly maxRuns: number | null;
}

export interface Assignment {
  readonly run: QueuedRun;
  readonly runner: RunnerRow;
}

/**
 * Gives queued runs to runners: the oldest run first, to the fitting runner with most free slots. A run that none fits
 * holds up no younger one.
 */
export function assignRuns(queue: readonly QueuedRun[], state: PlacementState): Assignment[] {
  const tally = tallyOf(state);
  const assignments: Assignment[] = [];
  for (const run of [...queue].sort(byAge)) {
    let best: RunnerRow | null = null;
    for (const runner of state.runners) {
      if (reasonAgainst(run, runner, tally) !== null) continue;
      if (best === null || isBetter(runner, best, tally)) best = runner;
    }
    if (best === null) continue;
    take(best, tally);
    assignments.push({ run, runner: best });
  }
  return assignments;
}

/** Runs that could be placed at most, whatever they need. */
export function freePlaces(state: PlacementState): number {
  const tally = tallyOf(state);
  const free = state.runners.filter((runner) => runner.connected && tally.pools.has(runner.poolId));
  const slots = free.reduce((sum, runner) => sum + Math.max(0, freeSlots(runner, tally)), 0);
  return Math.min(slots, Math.max(0, tally.maxRuns - tally.heldInAll));
}

/** Why no runner takes the run now, in a sentence for a person; null when one can. */
export function waitingReason(run: RunNeeds, state: PlacementState): string | null {
  const tally = tallyOf(state);
  const wanted = poolOf(run, tally);
  const pool = wanted === null ? undefined : tally.pools.get(wanted);
  if (wanted !== null && pool === undefined) return "The pool that the station names is gone.";
  const where = pool === undefined ? "of the workspace" : `of pool ${pool.key}`;
  const connected = state.runners.filter((runner) => runner.connected && isInPool(run, runner, tally));
  if (connected.length === 0) return `No runner ${where} is connected.`;
  const labelled = connected.filter((runner) => missingLabels(run, runner, tally).length === 0);
  if (labelled.length === 0) {
    const had = named(
      connected.flatMap((runner) => [...runner.labels, ...(tally.pools.get(runner.poolId)?.labels ?? [])]),
    );
    return `No connected runner ${where} has ${labelsText(run.labels)}; the connected ones have ${had}.`;
  }
  const fitting = labelled.filter((runner) => runner.harnesses.includes(run.harness));
  if (fitting.length === 0) {
    const offered = named(labelled.flatMap(({ harnesses }) => harnesses));
    return `No connected runner ${where} offers the harness ${run.harness}; they offer ${offered}.`;
  }
  const reasons = fitting.map((runner) => reasonAgainst(run, runner, tally));
  if (reasons.includes(null)) return null;
  if (tally.heldInAll >= tally.maxRuns) return `The workspace allows no more than ${tally.maxRuns} runs at once.`;
  return reasons.includes("slots")
    ? `Every fitting runner ${where} is busy: ${slotsText(fitting, tally)}.`
    : `No more runs at once are allowed ${where}: ${concurrencyText(fitting, tally)}.`;
}

function concurrencyText(fitting: readonly RunnerRow[], { pools }: Tally): string {
  const full = [...new Set(fitting.map(({ poolId }) => poolId))].flatMap((id) => pools.get(id) ?? []);
  return full.map(({ key, concurrency }) => `the concurrency of ${key} is ${concurrency}`).join(", ");
}

function slotsText(fitting: readonly RunnerRow[], { held }: Tally): string {
  const slots = fitting.reduce((sum, runner) => sum + runner.slots, 0);
  if (slots === 0) return "they are draining";
  const taken = fitting.reduce((sum, { runnerId }) => sum + (held.get(runnerId) ?? 0), 0);
  return `${taken} of ${slots} slots are taken`;
}

/** Names in a sentence, each once, the first of them. */
function named(names: readonly string[]): string {
  const all = [...new Set(names)].sort();
  if (all.length === 0) return "none";
  const more = all.length - NAMES_SHOWN;
  return all.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function labelsText(labels: readonly string[]): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `the labels ${labels.join(", ")}`;
}

type ReasonAgainst = "away" | "pool" | "labels" | "harness" | "slots" | "concurrency" | "workspace";

function reasonAgainst(run: RunNeeds, runner: RunnerRow, tally: Tally): ReasonAgainst | null {
  if (tally.heldInAll >= tally.maxRuns) return "workspace";
  if (!runner.connected) return "away";
  if (!isInPool(run, runner, tally)) return "pool";
  if (missingLabels(run, runner, tally).length > 0) return "labels";
  if (!runner.harnesses.includes(run.harness)) return "harness";
  if (freeSlots(runner, tally) <= 0) return "slots";
  const concurrency = tally.pools.get(runner.poolId)?.concurrency ?? null;
  return concurrency !== null && (tally.heldByPool.get(runner.poolId) ?? 0) >= concurrency ? "concurrency" : null;
}

/** A runner of a pool that is gone takes nothing more. */
function isInPool(run: RunNeeds, runner: RunnerRow, tally: Tally): boolean {
  const wanted = poolOf(run, tally);
  return tally.pools.has(runner.poolId) && (wanted === null || wanted === runner.poolId);
}

function poolOf({ poolId }: RunNeeds, { defaultPoolId }: Pick<Tally, "defaultPoolId">): string | null {
  return poolId ?? defaultPoolId;
}

function missingLabels(run: RunNeeds, runner: RunnerRow, { pools }: Pick<Tally, "pools">): string[] {
  const ofPool = pools.get(runner.poolId)?.labels ?? [];
  return run.labels.filter((label) => !runner.labels.includes(label) && !ofPool.includes(label));
}

function byAge(left: QueuedRun, right: QueuedRun): number {
  return left.queuedAtMs - right.queuedAtMs || (left.runId < right.runId ? -1 : 1);
}

function isBetter(runner: RunnerRow, than: RunnerRow, tally: Tally): boolean {
  const more = freeSlots(runner, tally) - freeSlots(than, tally);
  return more > 0 || (more === 0 && runner.runnerId < than.runnerId);
}

/** The state, counted so that each question about it is one look-up. */
interface Tally {
  readonly pools: ReadonlyMap<string, PlacementPool>;
  readonly held: Map<string, number>;
  readonly heldByPool: Map<string, number>;
  readonly defaultPoolId: string | null;
  readonly maxRuns: number;
  heldInAll: number;
}

function tallyOf({ runners, pools, held, defaultPoolId, maxRuns }: PlacementState): Tally {
  const heldByPool = new Map<string, number>();
  for (const { runnerId, poolId } of runners) {
    heldByPool.set(poolId, (heldByPool.get(poolId) ?? 0) + (held.get(runnerId) ?? 0));
  }
  return {
    ...{ pools: new Map(pools.map((pool) => [pool.id, pool])), held: new Map(held), heldByPool },
    ...{ defaultPoolId, maxRuns: maxRuns ?? Number.POSITIVE_INFINITY },
    heldInAll: [...held.values()].reduce((sum, count) => sum + count, 0),
  };
}

function take({ runnerId, poolId }: RunnerRow, tally: Tally): void {
  const { held, heldByPool } = tally;
  tally.heldInAll += 1;
  held.set(runnerId, (held.get(runnerId) ?? 0) + 1);
  heldByPool.set(poolId, (heldByPool.get(poolId) ?? 0) + 1);
}

function freeSlots(runner: RunnerRow, { held }: Tally): number {
  return runner.slots - (held.get(runner.runnerId) ?? 0);
}
