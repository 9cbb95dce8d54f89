import type { Reading } from "../storage/store.js";
import { coveredVersion } from "./covered-reading.js";
import { getOrCreateMap } from "./overlay.js";

/** Most that is held of one partition, in bytes; beyond it, what was held of it before is dropped. */
const MAX_PARTITION_BYTES = 1024 * 1024;
/** Most that is held of all partitions together; beyond it, those that were begun first are dropped. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** What a partition takes, and each value in addition to its own weight. */
const ENTRY_BYTES = 256;

type Partitions<Value> = Map<string, HeldPartition<Value>>;

/**
 * Values made of nothing but the covered rows of one partition, held until any of these rows changes.
 *
 * 1. A reading finds only what was held for it, in the version that it sees now.
 * 2. What is held of a partition, and of all partitions for all readings, has a bound. What was dropped is made again.
 */
export class HeldByVersion<Value> {
  readonly #byReading = new WeakMap<Reading, Partitions<Value>>();
  /** What is held, in the order in which it was begun, each among the partitions of its reading. */
  readonly #begun = new Map<HeldPartition<Value>, Partitions<Value>>();
  #bytes = 0;

  /** What is held of a partition as the reading sees it now; null while its version is unknown, so nothing can be held. */
  of(reading: Reading, name: string): HeldPartition<Value> | null {
    const version = coveredVersion(reading, name);
    if (version === null) return null;
    const held = this.#byReading.get(reading)?.get(name);
    return held?.version === version ? held : this.#begin(reading, name, version);
  }

  #begin(reading: Reading, name: string, version: number): HeldPartition<Value> {
    const partitions: Partitions<Value> = this.#byReading.get(reading) ?? new Map();
    this.#byReading.set(reading, partitions);
    const earlier = partitions.get(name);
    if (earlier !== undefined) this.#drop(earlier, partitions);
    const held = new HeldPartition<Value>(name, version, (grown, bytes) => this.#grew(grown, bytes));
    partitions.set(name, held);
    this.#begun.set(held, partitions);
    this.#grew(held, held.bytes);
    return held;
  }

  #grew(held: HeldPartition<Value>, bytes: number): void {
    // What was dropped already is counted no more.
    if (!this.#begun.has(held)) return;
    this.#bytes += bytes;
    if (this.#bytes > MAX_HELD_BYTES) this.#dropOldest();
  }

  /** Makes more room than is needed now: a map passes all that was deleted from it to get to its first entry. */
  #dropOldest(): void {
    for (const [oldest, partitions] of this.#begun) {
      if (this.#bytes <= MAX_HELD_BYTES - MAX_PARTITION_BYTES) return;
      this.#drop(oldest, partitions);
    }
  }

  #drop(held: HeldPartition<Value>, partitions: Partitions<Value>): void {
    partitions.delete(held.name);
    this.#begun.delete(held);
    this.#bytes -= held.bytes;
  }
}

/** What is held of one partition in one version; use it at once, since the next flush may make another version. */
export class HeldPartition<Value> {
  readonly name: string;
  readonly version: number;
  readonly #grew: (held: HeldPartition<Value>, bytes: number) => void;
  /** By group, then by key: two texts, so that no look-up has to join them. */
  readonly #values = new Map<string, Map<string, Value>>();
  #bytes = ENTRY_BYTES;

  constructor(name: string, version: number, grew: (held: HeldPartition<Value>, bytes: number) => void) {
    this.name = name;
    this.version = version;
    this.#grew = grew;
  }

  /** What all of it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  find(group: string, key: string): Value | undefined {
    return this.#values.get(group)?.get(key);
  }

  /** Holds a value that was not found. `weight` is what it takes, in bytes; one that is over the bound is not held. */
  hold(group: string, key: string, value: Value, weight: number): void {
    const bytes = ENTRY_BYTES + weight;
    if (ENTRY_BYTES + bytes > MAX_PARTITION_BYTES || this.find(group, key) !== undefined) return;
    const before = this.#bytes;
    if (before + bytes > MAX_PARTITION_BYTES) {
      this.#values.clear();
      this.#bytes = ENTRY_BYTES;
    }
    getOrCreateMap(this.#values, group).set(key, value);
    this.#bytes += bytes;
    this.#grew(this, this.#bytes - before);
  }
}
