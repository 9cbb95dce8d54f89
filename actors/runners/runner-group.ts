import { Ranking } from "./ranking.js";
import type { RunnerRow } from "./runner.js";

/** A runner and its claims. */
export interface RunnerLoad {
  row: RunnerRow;
  held: number;
  /** Slots minus claims; negative if the runner offers fewer slots than it holds claims. */
  free: number;
}

/** Sums over runners. */
export interface LoadCounts {
  readonly runners: number;
  readonly slots: number;
  readonly held: number;
  /** Runners without a free slot. */
  readonly busy: number;
}

/** An object that is notified when a runner joins or leaves a group, and when a runner's slots or claims change. */
export interface GroupListener {
  /** `more` is the change of the group's counts. Negative numbers mean a decrease. */
  groupChanged(group: RunnerGroup, more: LoadCounts): void;
}

/** Whether the left runner is preferred: more free slots, or at equal slots the lower id. */
export function isBetter(left: RunnerLoad, right: RunnerLoad): boolean {
  return left.free > right.free || (left.free === right.free && left.row.runnerId < right.row.runnerId);
}

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
 * Connected runners of one pool with the same labels, harnesses and features. So a run's needs fit either all runners
 * of the group or none. Owns its members and their ranking. Only {@link change} may change the claims and slots of a
 * member.
 *
 * 1. The counts are the sums over the group's runners. Every change of the counts is reported to the listeners.
 */
export class RunnerGroup {
  readonly poolId: string;
  /** The labels of the runners and of their pool. */
  readonly labels: ReadonlySet<string>;
  readonly harnesses: ReadonlySet<string>;
  readonly features: ReadonlySet<string>;
  readonly listeners = new Set<GroupListener>();
  readonly #byFreeSlots = new Ranking<RunnerLoad>(isBetter);
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

  /** Returns the runner with the most free slots; null if none has a free slot. */
  get best(): RunnerLoad | null {
    return this.#best;
  }

  /** Returns the lowest runner id; null if the group is empty. */
  get firstId(): string | null {
    return this.#byId.first?.row.runnerId ?? null;
  }

  join(runner: RunnerLoad): void {
    this.#byFreeSlots.put(runner);
    this.#byId.put(runner);
    this.#count(plus(noCounts, toCounts(runner)));
  }

  leave(runner: RunnerLoad): void {
    this.#byFreeSlots.remove(runner);
    this.#byId.remove(runner);
    this.#count(minus(noCounts, toCounts(runner)));
  }

  /** Sets the offer and the number of claims of one runner. */
  change(runner: RunnerLoad, row: RunnerRow, claims: number): void {
    const before = toCounts(runner);
    runner.row = row;
    runner.held = claims;
    runner.free = row.slots - claims;
    this.#byFreeSlots.put(runner);
    this.#count(minus(toCounts(runner), before));
  }

  /** Returns the state as plain data, for comparisons. */
  describe(): unknown {
    const { poolId, labels, harnesses, features, counts, firstId } = this;
    const offer = { poolId, labels, harnesses, features };
    return { ...offer, counts, best: this.best?.row.runnerId ?? null, firstId, size: this.#byFreeSlots.size };
  }

  #count(more: LoadCounts): void {
    const first = this.#byFreeSlots.first;
    this.#best = first !== undefined && first.free > 0 ? first : null;
    this.#counts = plus(this.#counts, more);
    for (const listener of this.listeners) listener.groupChanged(this, more);
  }
}

function toCounts(runner: RunnerLoad): LoadCounts {
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
