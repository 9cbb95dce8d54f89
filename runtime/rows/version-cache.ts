import type { Reading } from "../../storage/store.js";
import { getOrCreateMap } from "../turns/overlay.js";
import { coveredVersion } from "./covered-reading.js";

/**
 * Maximum size of one partition's cached values, in bytes. When a new value exceeds it, the partition's earlier values
 * are dropped.
 */
const MAX_PARTITION_BYTES = 1024 * 1024;
/** Maximum size of all cached values, in bytes. Beyond it, the partitions that were cached first are dropped. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
/** Fixed overhead of a partition, and of each value in addition to its weight, in bytes. */
const ENTRY_BYTES = 256;

type Partitions<Value> = Map<string, CachedPartition<Value>>;

/**
 * Caches values that are derived only from the covered rows of one partition, until any of these rows changes.
 *
 * 1. A reading finds only values that were cached for it, in the version that it currently sees.
 * 2. The sizes of one partition's values and of all values are limited. Callers compute dropped values again.
 */
export class VersionCache<Value> {
  readonly #byReading = new WeakMap<Reading, Partitions<Value>>();
  /**
   * All cached partitions in the order of their creation. The value is the map in which the partition is cached for its
   * reading.
   */
  readonly #byAge = new Map<CachedPartition<Value>, Partitions<Value>>();
  #bytes = 0;

  /**
   * Returns the cache of a partition at the version that the reading currently sees. Returns null while that version is
   * unknown, because nothing can be cached then.
   */
  find(reading: Reading, name: string): CachedPartition<Value> | null {
    const version = coveredVersion(reading, name);
    if (version === null) return null;
    const cached = this.#byReading.get(reading)?.get(name);
    return cached?.version === version ? cached : this.#begin(reading, name, version);
  }

  #begin(reading: Reading, name: string, version: number): CachedPartition<Value> {
    const partitions: Partitions<Value> = this.#byReading.get(reading) ?? new Map();
    this.#byReading.set(reading, partitions);
    const earlier = partitions.get(name);
    if (earlier !== undefined) this.#drop(earlier, partitions);
    const cached = new CachedPartition<Value>(name, version, (grown, bytes) => this.#grew(grown, bytes));
    partitions.set(name, cached);
    this.#byAge.set(cached, partitions);
    this.#grew(cached, cached.bytes);
    return cached;
  }

  #grew(cached: CachedPartition<Value>, bytes: number): void {
    // A dropped partition no longer counts toward the total.
    if (!this.#byAge.has(cached)) return;
    this.#bytes += bytes;
    if (this.#bytes > MAX_CACHED_BYTES) this.#dropOldest();
  }

  /**
   * Drops the oldest partitions. Frees {@link MAX_PARTITION_BYTES} more than needed, so that this method runs rarely.
   * It is slow, because it first scans the entries that earlier calls deleted from the `Map`.
   */
  #dropOldest(): void {
    for (const [oldest, partitions] of this.#byAge) {
      if (this.#bytes <= MAX_CACHED_BYTES - MAX_PARTITION_BYTES) return;
      this.#drop(oldest, partitions);
    }
  }

  #drop(cached: CachedPartition<Value>, partitions: Partitions<Value>): void {
    partitions.delete(cached.name);
    this.#byAge.delete(cached);
    this.#bytes -= cached.bytes;
  }
}

/** The cached values of one partition at one version. Use it immediately: the next flush may change the version. */
export class CachedPartition<Value> {
  readonly name: string;
  readonly version: number;
  readonly #grew: (cached: CachedPartition<Value>, bytes: number) => void;
  /** Values by group, then by key. Two maps save each lookup a string concatenation. */
  readonly #values = new Map<string, Map<string, Value>>();
  #bytes = ENTRY_BYTES;

  constructor(name: string, version: number, grew: (cached: CachedPartition<Value>, bytes: number) => void) {
    this.name = name;
    this.version = version;
    this.#grew = grew;
  }

  /** Total size of the cached values, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  find(group: string, key: string): Value | undefined {
    return this.#values.get(group)?.get(key);
  }

  /**
   * Caches a value that `find` did not return. `weight` is its size in bytes. A value above the limit is not cached.
   */
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
