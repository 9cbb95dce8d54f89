import { rowSpace } from "../storage/keys.js";
import type { Change, Entry, Key, KeyPart, Range, Reading } from "../storage/store.js";
import type { CoveringReading } from "./covered-reading.js";
import { freeze } from "./freeze.js";
import { getOrCreateMap, keyName, type Overlay } from "./overlay.js";
import type { PictureReading, ReadPicture } from "./read-picture.js";
import { ReadPictures } from "./read-pictures.js";
import type { RowMemory } from "./row-memory.js";
import { estimateWeight } from "./weight.js";

/** Most cached rows; beyond it, the oldest one of the same table and partition is dropped. */
const MAX_CACHED_ROWS = 8_192;
/** Most cached ranges of one table and partition, and most partitions of one table; beyond it, all are dropped. */
const MAX_CACHED_RANGES = 256;
/** Heavier values are not cached; see {@link estimateWeight}. */
const MAX_CACHED_WEIGHT = 16_384;
/** Most partitions whose version is known by itself; beyond it, all get the same new one. */
const MAX_VERSIONS = 8_192;

/**
 * The durable state with a cache for the rows of some tables, and pictures of others. The committer reports when
 * batches begin and are durable.
 *
 * 1. It returns what the underlying reading returns. Keys of a batch being committed are read there, since they may or
 *    may not be durable yet.
 * 2. It caches a bounded number of rows and ranges, only of the tables it was given.
 * 3. What was made from such rows alone is as good as made anew while the partition's version stays the same.
 */
export class RowCache implements PictureReading, CoveringReading, RowMemory {
  readonly #durable: Reading;
  readonly #tables: ReadonlySet<string>;
  /** By table, partition and the rest of the key; `#count` is their number over all tables. */
  readonly #rows = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<string, unknown>>>();
  #count = 0;
  /** By table, partition and prefix. */
  readonly #ranges = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<string, readonly Entry[]>>>();

  readonly #pictures: ReadPictures;
  readonly #freezes: boolean;
  #committing: Overlay | null = null;
  /** By partition; those that are absent have `#baseVersion`. */
  readonly #versions = new Map<KeyPart | undefined, number>();
  #baseVersion = 0;
  #lastVersion = 0;

  constructor(durable: Reading, options: { readonly tables: readonly string[]; readonly freezes: boolean }) {
    this.#durable = durable;
    this.#pictures = new ReadPictures(durable);
    this.#tables = new Set(options.tables);
    this.#freezes = options.freezes;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    if (!this.covers(key) || this.#committing?.get(key) !== undefined) return this.#durable.get<Value>(key);
    const name = keyName(key);
    const held = this.#rows.get(key[2])?.get(key[0])?.get(name);
    if (held !== undefined) return held as Value;
    const value = this.#durable.get<Value>(key);
    if (value !== undefined && estimateWeight(value, MAX_CACHED_WEIGHT) <= MAX_CACHED_WEIGHT)
      this.#cacheRow(key, name, value);
    return value;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    if (!this.covers(range.prefix) || !isFromStart(range) || this.#committing?.mayHoldBelow(range.prefix) === true) {
      return this.#durable.range<Value>(range);
    }
    const [partition, , table] = range.prefix;
    const name = keyName(range.prefix);
    const held = this.#ranges.get(table)?.get(partition)?.get(name);
    if (held !== undefined) return held.slice(0, range.limit) as Entry<Value>[];
    const entries = this.#durable.range<Value>(range);
    // Fewer entries than the limit are all there are.
    const areAll = range.limit === undefined || entries.length < range.limit;
    if (areAll && estimateWeight(entries, MAX_CACHED_WEIGHT) <= MAX_CACHED_WEIGHT)
      this.#cacheRange(range.prefix, name, entries);
    return [...entries];
  }

  readPicture<Held>(picture: ReadPicture<Held>, partition: string): Held {
    return this.#pictures.get(picture, partition);
  }

  covers(key: Key): boolean {
    return key[1] === rowSpace && this.#tables.has(String(key[2]));
  }

  coveredVersion(partition: string): number | null {
    const batch = this.#committing;
    if (batch !== null) {
      for (const table of this.#tables) if (batch.mayHoldBelow([partition, rowSpace, table])) return null;
    }
    return this.#versions.get(partition) ?? this.#baseVersion;
  }

  /** Call when the commit of a batch begins. */
  committing(batch: Overlay): void {
    this.#committing = batch;
    this.#pictures.committing(batch);
  }

  /** Call when that batch is durable. */
  flushed(): void {
    this.#committing = null;
    this.#pictures.flushed();
  }

  applied(changes: readonly Change[]): void {
    this.#pictures.applied(changes);
    for (const { key } of changes) {
      if (!this.covers(key)) continue;
      this.#ranges.get(key[2])?.delete(key[0]);
      this.#drop(key, keyName(key));
      this.#changed(key[0]);
    }
  }

  #changed(partition: KeyPart | undefined): void {
    this.#lastVersion += 1;
    if (this.#versions.size < MAX_VERSIONS) this.#versions.set(partition, this.#lastVersion);
    else {
      this.#versions.clear();
      this.#baseVersion = this.#lastVersion;
    }
  }

  #cacheRow([partition, , table]: Key, name: string, value: unknown): void {
    if (this.#freezes) freeze(value);
    const rows = getOrCreateMap(getOrCreateMap(this.#rows, table), partition);
    const before = rows.size;
    rows.set(name, value);
    this.#count += rows.size - before;
    if (this.#count > MAX_CACHED_ROWS) this.#dropOldest(rows);
  }

  #drop([partition, , table]: Key, name: string): void {
    if (this.#rows.get(table)?.get(partition)?.delete(name) === true) this.#count -= 1;
  }

  /** Drops the oldest of these rows; if there is only one, the whole cache. */
  #dropOldest(rows: Map<string, unknown>): void {
    if (rows.size === 1) {
      this.#rows.clear();
      this.#count = 0;
      return;
    }
    for (const first of rows.keys()) {
      rows.delete(first);
      this.#count -= 1;
      return;
    }
  }

  #cacheRange([partition, , table]: Key, name: string, entries: readonly Entry[]): void {
    const partitions = getOrCreateMap(this.#ranges, table);
    if (partitions.size >= MAX_CACHED_RANGES && !partitions.has(partition)) partitions.clear();
    const ranges = getOrCreateMap(partitions, partition);
    if (ranges.size >= MAX_CACHED_RANGES) ranges.clear();
    ranges.set(name, entries);
  }
}

/** The range starts with the first entry below its prefix, in ascending order, and leaves out nothing. */
function isFromStart({ after, before, reverse, onDamaged }: Range): boolean {
  // What is read past damaged rows is not all there is.
  return after === undefined && before === undefined && reverse !== true && onDamaged === undefined;
}
