import { rowSpace } from "../storage/keys.js";
import type { Change, Entry, Key, KeyPart, Range, Reading } from "../storage/store.js";
import { freeze } from "./freeze.js";
import { getOrCreateMap, keyName, type Overlay } from "./overlay.js";
import type { PictureReading, ReadPicture } from "./read-picture.js";
import { ReadPictures } from "./read-pictures.js";
import type { RowMemory } from "./row-memory.js";

/** Rows held; past it the one that was held first of its table and partition goes. */
const MAX_CACHED_ROWS = 8_192;
/** Ranges held of one table of a partition, and partitions of a table whose ranges are held; past it all go. */
const MAX_CACHED_RANGES = 256;
/** What is read and heavier than this is read from the store each time: characters of texts, and some for each part. */
const MAX_CACHED_WEIGHT = 16_384;
const PART_WEIGHT = 16;

/**
 * The durable state, with rows of some tables held in memory, and pictures of others. Owns what it holds; whoever
 * commits tells it what has become durable.
 *
 * 1. It gives what the reading under it gives: what a batch under way writes may be durable already or not yet, so it
 *    is asked there.
 * 2. It holds a bounded number of rows and ranges, and only of the tables that were named.
 */
export class RowCache implements PictureReading, RowMemory {
  readonly #durable: Reading;
  readonly #tables: ReadonlySet<string>;
  /** By table, partition and the rest of the key; counted over all. */
  readonly #rows = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<string, unknown>>>();
  #count = 0;
  /** By table, partition and prefix. */
  readonly #ranges = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<string, readonly Entry[]>>>();

  readonly #pictures: ReadPictures;
  readonly #freezes: boolean;
  #underWay: Overlay | null = null;

  constructor(durable: Reading, options: { readonly tables: readonly string[]; readonly freezes: boolean }) {
    this.#durable = durable;
    this.#pictures = new ReadPictures(durable);
    this.#tables = new Set(options.tables);
    this.#freezes = options.freezes;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    if (!this.#covers(key) || this.#underWay?.get(key) !== undefined) return this.#durable.get<Value>(key);
    const name = keyName(key);
    const held = this.#rows.get(key[2])?.get(key[0])?.get(name);
    if (held !== undefined) return held as Value;
    const value = this.#durable.get<Value>(key);
    if (value !== undefined && estimateWeight(value) <= MAX_CACHED_WEIGHT) this.#cacheRow(key, name, value);
    return value;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    if (!this.#covers(range.prefix) || !isFromStart(range) || this.#underWay?.mayHoldBelow(range.prefix) === true) {
      return this.#durable.range<Value>(range);
    }
    const [partition, , table] = range.prefix;
    const name = keyName(range.prefix);
    const held = this.#ranges.get(table)?.get(partition)?.get(name);
    if (held !== undefined) return held.slice(0, range.limit) as Entry<Value>[];
    const entries = this.#durable.range<Value>(range);
    // Fewer than were asked for are all there are.
    const areAll = range.limit === undefined || entries.length < range.limit;
    if (areAll && estimateWeight(entries) <= MAX_CACHED_WEIGHT) this.#cacheRange(range.prefix, name, entries);
    return [...entries];
  }

  readPicture<Held>(picture: ReadPicture<Held>, partition: string): Held {
    return this.#pictures.get(picture, partition);
  }

  /** A batch is being committed. */
  committing(batch: Overlay): void {
    this.#underWay = batch;
    this.#pictures.committing(batch);
  }

  /** The batch that was being committed is durable. */
  flushed(): void {
    this.#underWay = null;
    this.#pictures.flushed();
  }

  applied(changes: readonly Change[]): void {
    this.#pictures.applied(changes);
    for (const { key } of changes) {
      if (!this.#covers(key)) continue;
      this.#ranges.get(key[2])?.delete(key[0]);
      this.#drop(key, keyName(key));
    }
  }

  #covers(key: Key): boolean {
    return key[1] === rowSpace && this.#tables.has(String(key[2]));
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

  /** Lets go of the row that was held first among those; with no other there, of all. */
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

/** The first entries below the prefix, or every one, in order. */
function isFromStart({ after, before, reverse }: Range): boolean {
  return after === undefined && before === undefined && reverse !== true;
}

/** About what the value takes in memory, as {@link MAX_CACHED_WEIGHT} counts it; looked at no further once that is passed. */
function estimateWeight(value: unknown): number {
  if (typeof value === "string") return PART_WEIGHT + value.length;
  if (typeof value !== "object" || value === null) return PART_WEIGHT;
  if (ArrayBuffer.isView(value)) return PART_WEIGHT + value.byteLength;
  let weight = PART_WEIGHT;
  for (const name in value) {
    if (weight > MAX_CACHED_WEIGHT) break;
    weight += estimateWeight(value[name as keyof typeof value]);
  }
  return weight;
}
