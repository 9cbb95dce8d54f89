import { Ranking } from "./ranking.js";
import type { RunnerRow } from "./runner.table.js";

/** A runner, and how many runs it holds. */
export interface RunnerLoad {
  row: RunnerRow;
  held: number;
  /** What it offers beyond what it holds; negative when it holds more. */
  free: number;
}

/** Counts over runners. */
export interface LoadCounts {
  readonly runners: number;
  readonly slots: number;
  readonly held: number;
  /** Runners without a free slot. */
  readonly busy: number;
}

/** Is told when runners of a group come, leave, offer or hold something else. */
export interface GroupListener {
  /** `more` is what has come to the counts; negative for less. */
  groupChanged(group: RunnerGroup, more: LoadCounts): void;
}

/** Of two runners that fit, a run goes to the one with more free slots, then to the one with the lower id. */
export function isBetter(left: RunnerLoad, right: RunnerLoad): boolean {
  return left.free > right.free || (left.free === right.free && left.row.runnerId < right.row.runnerId);
}

/** Adds counts. */
export function plus(left: LoadCounts, right: LoadCounts): LoadCounts {
  return {
    runners: left.runners + right.runners,
    slots: left.slots + right.slots,
    held: left.held + right.held,
    busy: left.busy + right.busy,
  };
}

export const noCounts: LoadCounts = { runners: 0, slots: 0, held: 0, busy: 0 };

/**
 * The connected runners of a pool that offer the same labels, harnesses and features: what fits one fits all. Owns who
 * belongs to it and their order; what each holds is changed through {@link change} alone.
 *
 * 1. The counts are the sums over its runners, and the listeners were told of every change.
 */
export class RunnerGroup {
  readonly poolId: string;
  /** Of its runners and of their pool. */
  readonly labels: ReadonlySet<string>;
  readonly harnesses: ReadonlySet<string>;
  readonly features: ReadonlySet<string>;
  readonly listeners = new Set<GroupListener>();
  readonly #byRoom = new Ranking<RunnerLoad>(isBetter);
  readonly #byId = new Ranking<RunnerLoad>((left, right) => left.row.runnerId < right.row.runnerId);
  #counts = noCounts;
  #best: RunnerLoad | null = null;

  constructor({ poolId, labels, harnesses, features = [] }: RunnerRow, labelsOfPool: readonly string[]) {
    this.poolId = poolId;
    this.labels = new Set([...labels, ...labelsOfPool]);
    this.harnesses = new Set(harnesses);
    this.features = new Set(features);
  }

  get counts(): LoadCounts {
    return this.#counts;
  }

  /** The runner with most free slots; null when none has any. */
  get best(): RunnerLoad | null {
    return this.#best;
  }

  /** The lowest id of its runners. */
  get firstId(): string | null {
    return this.#byId.first?.row.runnerId ?? null;
  }

  join(runner: RunnerLoad): void {
    this.#byRoom.put(runner);
    this.#byId.put(runner);
    this.#count(plus(noCounts, countsOf(runner)));
  }

  leave(runner: RunnerLoad): void {
    this.#byRoom.remove(runner);
    this.#byId.remove(runner);
    this.#count(minus(noCounts, countsOf(runner)));
  }

  /** Has one of its runners hold or offer something else. */
  change(runner: RunnerLoad, row: RunnerRow, held: number): void {
    const before = countsOf(runner);
    runner.row = row;
    runner.held = held;
    runner.free = row.slots - held;
    this.#byRoom.put(runner);
    this.#count(minus(countsOf(runner), before));
  }

  /** All that it knows as plain data. */
  describe(): unknown {
    const { poolId, labels, harnesses, features, counts, firstId } = this;
    const offer = { poolId, labels, harnesses, features };
    return { ...offer, counts, best: this.best?.row.runnerId ?? null, firstId, size: this.#byRoom.size };
  }

  #count(more: LoadCounts): void {
    const first = this.#byRoom.first;
    this.#best = first !== undefined && first.free > 0 ? first : null;
    this.#counts = plus(this.#counts, more);
    for (const listener of this.listeners) listener.groupChanged(this, more);
  }
}

function countsOf(runner: RunnerLoad): LoadCounts {
  return { runners: 1, slots: runner.row.slots, held: runner.held, busy: runner.free > 0 ? 0 : 1 };
}

function minus(left: LoadCounts, right: LoadCounts): LoadCounts {
  return {
    runners: left.runners - right.runners,
    slots: left.slots - right.slots,
    held: left.held - right.held,
    busy: left.busy - right.busy,
  };
}
