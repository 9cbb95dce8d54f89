import { pack, unpack } from "msgpackr";
import { compareKeys } from "../../storage/key-order.js";
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
import type { Chance } from "./chance.js";
import type { Fault } from "./faults.js";
import type { World } from "./world.js";

interface Row {
  readonly key: Key;
  readonly bytes: Buffer;
}

/** Longest flush, in milliseconds. */
const LONGEST_FLUSH_MS = 30;

/**
 * A disk that outlives the process: whole batches become durable some time after they were committed, and a crash
 * comes before or after that. What is on it went through bytes.
 */
export class SimulatedDisk {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #fault: Fault | null;
  readonly #rows: Row[] = [];
  #unflushed: (readonly Change[])[] = [];
  #failing = false;
  commits = 0;

  constructor(world: World, chance: Chance, fault: Fault | null) {
    this.#world = world;
    this.#chance = chance;
    this.#fault = fault;
  }

  /** What is durable. */
  readonly reading: Reading = {
    get: <Value>(key: Key) => {
      const { index, found } = this.#find(key);
      const row = found ? this.#rows[index] : undefined;
      return row === undefined ? undefined : (unpack(row.bytes) as Value);
    },
    range: <Value>(range: Range) => this.#range<Value>(range),
  };

  /** The store as one process opens it. */
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

  /** The next commit fails, and so does every later one of this process. */
  fail(): void {
    this.#failing = true;
  }

  /** The process is gone: some of what was being flushed made it to the disk, from the first batch on. */
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
        // Everything committed before it is flushed with it.
        const upTo = this.#unflushed.indexOf(written);
        for (const flushed of this.#unflushed.splice(0, upTo + 1)) this.#apply(flushed);
        resolve();
      });
    });
  }

  #apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const { index, found } = this.#find(change.key);
      if (change.op === "put") this.#rows.splice(index, found ? 1 : 0, { key: change.key, bytes: pack(change.value) });
      else if (found) this.#rows.splice(index, 1);
    }
  }

  #find(key: Key): { index: number; found: boolean } {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.#rows[middle];
      if (row !== undefined && compareKeys(row.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    const row = this.#rows[low];
    return { index: low, found: row !== undefined && compareKeys(row.key, key) === 0 };
  }

  #range<Value>({ prefix, after, before, limit, reverse }: Range): Entry<Value>[] {
    const entries: Entry<Value>[] = [];
    const rows = reverse === true ? this.#rows.toReversed() : this.#rows;
    const begin = reverse === true ? 0 : this.#find(after ?? prefix).index;
    for (let index = begin; index < rows.length && entries.length < (limit ?? Number.POSITIVE_INFINITY); index++) {
      const row = rows[index];
      if (row === undefined || !below(row.key, prefix)) {
        if (row !== undefined && reverse !== true && compareKeys(row.key, prefix) > 0) break;
        continue;
      }
      if (
        after !== undefined &&
        (compareKeys(row.key, after) <= 0 || (after.length > prefix.length && below(row.key, after)))
      )
        continue;
      if (before !== undefined && compareKeys(row.key, before) >= 0) continue;
      entries.push({ key: row.key, value: unpack(row.bytes) as Value });
    }
    return entries;
  }
}

function below(key: Key, prefix: Key): boolean {
  return key.length > prefix.length && prefix.every((part, index) => key[index] === part);
}
