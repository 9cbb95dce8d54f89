import { FittingRunners } from "./fitting-runners.js";
import { toNeedsParts } from "./run-queue.table.js";
import type { RunNeeds } from "./runner.table.js";
import type { RunnerGroup } from "./runner-group.js";

/** Needs that are remembered although nothing waits with them. */
const MAX_IDLE_NEEDS = 64;

/**
 * The needs that were asked about, each with the runners that fit it, so that a group of runners is held against needs
 * once and not with each run. Those that runs wait with are retained; of the others the latest are.
 *
 * 1. Of every group that was added and not removed, each of its needs knows whether it fits.
 */
export class KnownNeeds {
  /** Needs of which a fitting runner has a free slot, whatever its pool allows. */
  readonly placeable = new Set<FittingRunners>();
  readonly #fitting = new Map<string, FittingRunners>();
  readonly #names = new Map<FittingRunners, string>();
  /** Those that nobody retains, the one asked for longest ago first. */
  readonly #idle = new Set<FittingRunners>();

  /** The runners that fit these needs; `groups` are those that can, in pools that the needs go to. */
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

  /** Keeps them until they are released, however many others are asked for. */
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
