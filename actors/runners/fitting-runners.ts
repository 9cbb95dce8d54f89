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

/** The requirement that no connected runner meets, and a text about the closest runners' offers. */
export interface Missing {
  readonly what: "runner" | "labels" | "harness" | "features";
  readonly had: string;
}

/**
 * The groups of connected runners that fit certain needs, and the best runner for the next run. Owns this set of
 * groups. Callers pass in the limits of pools and lanes.
 *
 * 1. The set has exactly the groups that {@link accepts} accepts. The counts are the sums of the groups' counts.
 * 2. A group is ranked by its best runner, while one of its runners has a free slot.
 * 3. This object is in `placeable` while one of its groups is ranked.
 */
export class FittingRunners implements GroupListener {
  /** `poolId` is the pool that the needs name, or else the default pool. */
  readonly needs: RunNeeds;
  /** Cache: the requirement that no runner met, and the `shape` of placement at that time. */
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

  /** Adds a fitting group. */
  add(group: RunnerGroup): void {
    this.#groups.add(group);
    group.listeners.add(this);
    this.groupChanged(group, group.counts);
  }

  /** Removes a group, which must have no runners left. */
  remove(group: RunnerGroup): void {
    this.#groups.delete(group);
    group.listeners.delete(this);
  }

  /** Stops listening to all groups. Do not use the object afterwards. */
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

  /**
   * Returns the best runner with a free slot, among the pools for which `takesMore` returns true; null if there is
   * none.
   */
  best(takesMore: (poolId: string) => boolean): RunnerLoad | null {
    let best: RunnerLoad | null = null;
    for (const [poolId, ranked] of this.#ranked) {
      const runner = ranked.first?.best ?? null;
      if (runner === null || !takesMore(poolId)) continue;
      if (best === null || isBetter(runner, best)) best = runner;
    }
    return best;
  }

  /** Lists the pools of the fitting runners, ordered by the lowest runner id of each pool. */
  poolIds(): string[] {
    const first = new Map<string, string>();
    for (const { poolId, firstId } of this.#groups) {
      const known = first.get(poolId);
      if (firstId !== null && (known === undefined || firstId < known)) first.set(poolId, firstId);
    }
    return [...first].sort(([, left], [, right]) => (left < right ? -1 : 1)).map(([poolId]) => poolId);
  }

  /** Returns the state as plain data, for comparisons. */
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

/** Whether the best runner of the left group is better than the best runner of the right group. */
function isGroupBetter(left: RunnerGroup, right: RunnerGroup): boolean {
  return left.best !== null && (right.best === null || isBetter(left.best, right.best));
}
