import { Ranking } from "./ranking.js";
import type { RunNeeds } from "./runner.table.js";
import {
  type GroupListener,
  isBetter,
  type LoadCounts,
  noCounts,
  plus,
  type RunnerGroup,
  type RunnerLoad,
} from "./runner-group.js";

/** What no connected runner has of the needs, and what those have that come next to it, as text. */
export interface Missing {
  readonly what: "runner" | "labels" | "harness" | "features";
  readonly had: string;
}

/**
 * The connected runners that fit certain needs, group by group, and the best of them for the next run. Owns which
 * groups these are. What a pool or lane allows it is told with each question.
 *
 * 1. Its groups are those that {@link accepts} holds of, and its counts are the sums of theirs.
 * 2. A group is ranked when a runner of it has a free slot, by the best of its runners.
 * 3. It stands in `placeable` as long as a group is ranked.
 */
export class FittingRunners implements GroupListener {
  /** With the pool that they name or that is the default. */
  readonly needs: RunNeeds;
  /** What was missing when no runner fitted, and the `shape` of placement at that time. */
  missing: (Missing & { readonly shape: number }) | null = null;
  readonly #placeable: Set<FittingRunners>;
  readonly #groups = new Set<RunnerGroup>();
  /** Groups with a free slot, by pool. */
  readonly #ranked = new Map<string, Ranking<RunnerGroup>>();
  #free = 0;
  #counts = noCounts;

  constructor(needs: RunNeeds, placeable: Set<FittingRunners>) {
    this.needs = needs;
    this.#placeable = placeable;
  }

  get counts(): LoadCounts {
    return this.#counts;
  }

  accepts({ poolId, labels, harnesses, features }: RunnerGroup): boolean {
    const { needs } = this;
    return (
      (needs.poolId === null || needs.poolId === poolId) &&
      needs.labels.every((label) => labels.has(label)) &&
      harnesses.has(needs.harness) &&
      (needs.features ?? []).every((feature) => features.has(feature))
    );
  }

  /** Counts a group in that fits. */
  add(group: RunnerGroup): void {
    this.#groups.add(group);
    group.listeners.add(this);
    this.groupChanged(group, group.counts);
  }

  /** Lets go of a group that no runner is left in. */
  remove(group: RunnerGroup): void {
    this.#groups.delete(group);
    group.listeners.delete(this);
  }

  /** Lets go of all groups: nothing more is asked. */
  end(): void {
    for (const group of this.#groups) group.listeners.delete(this);
    this.#placeable.delete(this);
  }

  groupChanged(group: RunnerGroup, more: LoadCounts): void {
    this.#counts = plus(this.#counts, more);
    const ranked = this.#rankedIn(group.poolId);
    const before = ranked.size;
    if (group.best === null) ranked.remove(group);
    else ranked.put(group);
    this.#free += ranked.size - before;
    if (this.#free > 0) this.#placeable.add(this);
    else this.#placeable.delete(this);
  }

  /** The runner that the next run goes to, in the pools that take one more; null when there is none. */
  best(takesMore: (poolId: string) => boolean): RunnerLoad | null {
    let best: RunnerLoad | null = null;
    for (const [poolId, ranked] of this.#ranked) {
      const runner = ranked.first?.best ?? null;
      if (runner === null || !takesMore(poolId)) continue;
      if (best === null || isBetter(runner, best)) best = runner;
    }
    return best;
  }

  /** The pools of the fitting runners, in the order of the runners' ids. */
  poolIds(): string[] {
    const first = new Map<string, string>();
    for (const { poolId, firstId } of this.#groups) {
      const known = first.get(poolId);
      if (firstId !== null && (known === undefined || firstId < known)) first.set(poolId, firstId);
    }
    return [...first].sort(([, left], [, right]) => (left < right ? -1 : 1)).map(([poolId]) => poolId);
  }

  /** All that it knows as plain data. */
  describe(): unknown {
    const isPlaceable = this.#placeable.has(this);
    const best = this.best(() => true)?.row.runnerId ?? null;
    return {
      counts: this.#counts,
      groups: this.#groups.size,
      free: this.#free,
      best,
      isPlaceable,
      pools: this.poolIds(),
    };
  }

  #rankedIn(poolId: string): Ranking<RunnerGroup> {
    const known = this.#ranked.get(poolId);
    if (known !== undefined) return known;
    const ranked = new Ranking<RunnerGroup>(isGroupBetter);
    this.#ranked.set(poolId, ranked);
    return ranked;
  }
}

/** Of two groups that each have a free slot, the one whose best runner is better. */
function isGroupBetter(left: RunnerGroup, right: RunnerGroup): boolean {
  return left.best !== null && (right.best === null || isBetter(left.best, right.best));
}
