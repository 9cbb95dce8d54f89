import { FittingRunners } from "./fitting-runners.js";
import { toNeedsParts } from "./run-queue.table.js";
import type { RunNeeds } from "./runner.table.js";
import type { RunnerGroup } from "./runner-group.js";

/** Maximum number of cached needs that no queued run has. */
const MAX_IDLE_NEEDS = 64;

/**
 * A cache of needs and the runners that fit them. Because of the cache, needs are compared with each runner group only
 * once, and not again for each run. The cache keeps the needs of all queued runs. It also keeps the {@link
 * MAX_IDLE_NEEDS} other needs that were used last.
 *
 * 1. The fitting groups of an entry are exactly the existing groups that the entry accepts.
 */
export class KnownNeeds {
  /** The entries for which some fitting runner has a free slot. Ignores the limits of pools. */
  readonly placeable = new Set<FittingRunners>();
  readonly #fitting = new Map<string, FittingRunners>();
  readonly #names = new Map<FittingRunners, string>();
  /** Entries that are not retained, least recently used first. */
  readonly #idle = new Set<FittingRunners>();

  /** Returns the runners that fit these needs. `groups` yields the runner groups of the pools that the needs allow. */
  get(needs: RunNeeds, groups: () => Iterable<RunnerGroup>): FittingRunners {
    const name = JSON.stringify(toNeedsParts(needs));
    const known = this.#fitting.get(name);
    if (known !== undefined) {
      if (this.#idle.delete(known)) this.#idle.add(known);
      return known;
    }
    const fitting = new FittingRunners(needs, this.placeable);
    for (const group of groups()) if (fitting.accepts(group)) fitting.add(group);
    this.#fitting.set(name, fitting);
    this.#names.set(fitting, name);
    this.release(fitting);
    return fitting;
  }

  /** Keeps the entry in the cache until it is released. */
  retain(fitting: FittingRunners): void {
    this.#idle.delete(fitting);
  }

  release(fitting: FittingRunners): void {
    this.#idle.add(fitting);
    if (this.#idle.size <= MAX_IDLE_NEEDS) return;
    for (const oldest of this.#idle) {
      this.#forget(oldest);
      return;
    }
  }

  addGroup(group: RunnerGroup): void {
    for (const fitting of this.#names.keys()) if (fitting.accepts(group)) fitting.add(group);
  }

  removeGroup(group: RunnerGroup): void {
    for (const fitting of this.#names.keys()) fitting.remove(group);
  }

  all(): Iterable<FittingRunners> {
    return this.#names.keys();
  }

  #forget(fitting: FittingRunners): void {
    fitting.end();
    this.#idle.delete(fitting);
    this.#fitting.delete(this.#names.get(fitting) ?? "");
    this.#names.delete(fitting);
  }
}
