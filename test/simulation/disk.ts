import { pack, unpack } from "msgpackr";
import { compareKeys } from "../../storage/key-order.js";
import { canHold, isBelow } from "../../storage/ranges.js";
import {
  type Change,
  type Entry,
  type Key,
  type Range,
  type Reading,
  type Store,
  StoreError,
  type View,
} from "../../storage/store.js";
import { damagedRow } from "../../storage/store-errors.js";
import type { Chance } from "./chance.js";
import type { Fault } from "./faults.js";
import type { World } from "./world.js";

interface Row {
  readonly key: Key;
  readonly bytes: Buffer;
}

/** Maximum duration of a flush, in milliseconds. */
const LONGEST_FLUSH_MS = 30;

/**
 * A disk that survives the process. A batch becomes durable as a whole, some time after its commit. The process can
 * crash before or after the batch becomes durable. Rows are stored as bytes.
 */
export class SimulatedDisk {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #fault: Fault | null;
  readonly #rows: Row[] = [];
  #unflushed: (readonly Change[])[] = [];
  #failing = false;
  /** Keys of damaged rows, as JSON. */
  readonly damaged = new Set<string>();
  commits = 0;
  /** Number of batches that became durable. */
  flushes = 0;

  constructor(world: World, chance: Chance, fault: Fault | null) {
    this.#world = world;
    this.#chance = chance;
    this.#fault = fault;
  }

  /** The durable rows. */
  readonly reading: Reading = {
    get: <Value>(key: Key) => {
      const { index, found } = this.#find(key);
      const row = found ? this.#rows[index] : undefined;
      if (row !== undefined && this.#isDamaged(row.key)) throw damagedRow("the simulated disk", row.key, null);
      return row === undefined ? undefined : (unpack(row.bytes) as Value);
    },
    range: <Value>(range: Range) => this.#range<Value>(range),
  };

  #isDamaged(key: Key): boolean {
    return this.damaged.size > 0 && this.damaged.has(JSON.stringify(key));
  }

  /** Opens the store for one process. */
  open(): Store {
    const open = { is: true };
    const view: View = { ...this.reading, close: () => undefined };
    return {
      reading: this.reading,
      commit: (changes) => this.#commit(changes),
      view: () => view,
      backup: async () => undefined,
      close: async () => {
        open.is = false;
      },
    };
  }

  /** Makes all commits of this process fail: the commits in progress and all later commits. */
  fail(): void {
    this.#failing = true;
  }

  /**
   * Simulates a crash. The first unflushed batches become durable; their number is random. All later batches are lost.
   */
  crash(): void {
    const survives = this.#chance.between(0, this.#unflushed.length);
    for (const changes of this.#unflushed.slice(0, survives)) this.#apply(changes);
    this.#unflushed = [];
    this.#failing = false;
  }

  #commit(changes: readonly Change[]): Promise<void> {
    this.commits += 1;
    const packed = changes.map((change) =>
      change.op === "put" ? { ...change, value: unpack(pack(change.value)) } : change,
    );
    const written = this.#fault === null ? packed : this.#fault.write(packed, this.#chance);
    this.#unflushed.push(written);
    if (this.#fault?.answersEarly === true) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#world.later(this.#chance.between(0, LONGEST_FLUSH_MS), () => {
        if (this.#failing) return reject(new StoreError("failed", "the simulated disk has failed"));
        // A flush includes all batches that were committed earlier.
        const upTo = this.#unflushed.indexOf(written);
        for (const flushed of this.#unflushed.splice(0, upTo + 1)) this.#apply(flushed);
        resolve();
      });
    });
  }

  #apply(changes: readonly Change[]): void {
    this.flushes += 1;
    for (const change of changes) {
      const { index, found } = this.#find(change.key);
      if (this.damaged.size > 0) this.damaged.delete(JSON.stringify(change.key));
      if (change.op === "put") this.#rows.splice(index, found ? 1 : 0, { key: change.key, bytes: pack(change.value) });
      else if (found) this.#rows.splice(index, 1);
    }
  }

  #find(key: Key): { index: number; found: boolean } {
    const index = this.#firstWhere((at) => compareKeys(at, key) >= 0);
    const row = this.#rows[index];
    return { index, found: row !== undefined && compareKeys(row.key, key) === 0 };
  }

  /** Returns the index of the first matching key. All later keys must match too. */
  #firstWhere(fits: (key: Key) => boolean): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.#rows[middle];
      if (row !== undefined && !fits(row.key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #range<Value>(range: Range): Entry<Value>[] {
    if (!canHold(range)) return [];
    const { prefix, after, before, limit, reverse, onDamaged } = range;
    const isPast = (key: Key, bound: Key) => compareKeys(key, bound) > 0 && !isBelow(key, bound);
    const begin = this.#firstWhere((key) => (after === undefined ? compareKeys(key, prefix) > 0 : isPast(key, after)));
    const end = this.#firstWhere(
      (key) => isPast(key, prefix) || (before !== undefined && compareKeys(key, before) >= 0),
    );
    const entries: Entry<Value>[] = [];
    const step = reverse === true ? -1 : 1;
    for (let index = step > 0 ? begin : end - 1; index >= begin && index < end; index += step) {
      const row = this.#rows[index];
      if (row === undefined || entries.length === limit) break;
      if (!this.#isDamaged(row.key)) entries.push({ key: row.key, value: unpack(row.bytes) as Value });
      else if (onDamaged === undefined) throw damagedRow("the simulated disk", row.key, null);
      else onDamaged(row.key);
    }
    return entries;
  }
}
