import { rowSpace } from "../../storage/keys.js";
import type { Change, Entry, Key, KeyPart, Range, Reading } from "../../storage/store.js";
import { freeze } from "../cells/freeze.js";
import { getOrCreateMap, keyName, Overlay } from "../turns/overlay.js";
import type { CoveringReading } from "./covered-reading.js";
import type { ReadView, ViewReading } from "./read-view.js";
import { isAsWritten, ReadViews } from "./read-views.js";
import type { Origin, RowMemory } from "./row-memory.js";
import { estimateWeight } from "./weight.js";

/** Maximum number of cached rows. Beyond it, the oldest row of the same table, partition and group is dropped. */
const MAX_CACHED_ROWS = 8_192;
/**
 * Maximum number of cached ranges per table and partition, and of partitions with cached ranges per table. Beyond it,
 * all ranges of that table and partition, or of that table, are dropped.
 */
const MAX_CACHED_RANGES = 256;
/** Rows above this weight, in bytes, are not cached; see {@link estimateWeight}. */
const MAX_CACHED_WEIGHT = 16_384;
/**
 * `MAX_RANGE_WEIGHT` is the maximum weight of one cached range, in bytes; heavier ranges are not cached.
 * `MAX_RANGES_WEIGHT` limits the sum of all cached ranges of one table and partition. If the sum would exceed it, all
 * these ranges are dropped.
 */
const MAX_RANGE_WEIGHT = 65_536;
const MAX_RANGES_WEIGHT = 1_048_576;
/** Maximum number of rows in a batch that stays cached after its commit; see {@link RowCache}. */
const MAX_WRITTEN_ROWS = 2_048;
/**
 * Maximum number of partitions with a version of their own, and maximum number of groups with one. Beyond it, all
 * partitions or all groups share one new version.
 */
const MAX_VERSIONS = 8_192;

/**
 * The durable state with a cache for the rows of some tables, and cached read views of others. The code that commits
 * batches must call {@link committing} and {@link flushed}. The cache also holds the rows of the last batch, of any
 * table, because the askers that waited for the batch and the following turns read them next.
 *
 * 1. It returns the same data as the underlying reading. Keys of a batch being committed are read from the underlying
 * reading, because they may or may not be durable yet.
 * 2. It caches a limited number of rows and ranges, only of the given tables, and the rows of one batch.
 * 3. A value that is derived only from cached tables stays valid while the partition's version is unchanged.
 */
export class RowCache implements ViewReading, CoveringReading, RowMemory {
  readonly #durable: Reading;
  readonly #tables: ReadonlySet<string>;
  /**
   * Rows by table, partition, and the rest of the key in two parts (see {@link findGroup}). `#count` is the total
   * number.
   */
  readonly #rows = new Map<
    KeyPart | undefined,
    Map<KeyPart | undefined, Map<string | undefined, Map<string, unknown>>>
  >();
  #count = 0;
  /** Ranges by table and partition. */
  readonly #ranges = new Map<KeyPart | undefined, Map<KeyPart | undefined, CachedRanges>>();

  readonly #readViews: ReadViews;
  readonly #freezes: boolean;
  #committing: Overlay | null = null;
  /** The last durable batch, without its bodies. Its rows are current until another batch writes the same key. */
  #written = new Overlay();
  /** Whether another node has written since the commit of the current batch began. */
  #wroteElsewhere = false;
  /** Versions by partition. Absent partitions have `#baseVersion`. */
  readonly #versions = new Map<KeyPart | undefined, number>();
  #baseVersion = 0;
  /** Versions by partition and group. Absent groups have `#baseGroupVersion`. `#groupCount` is the total number. */
  readonly #groupVersions = new Map<KeyPart | undefined, Map<KeyPart, number>>();
  #groupCount = 0;
  #baseGroupVersion = 0;
  #lastVersion = 0;

  constructor(durable: Reading, options: { readonly tables: readonly string[]; readonly freezes: boolean }) {
    this.#durable = durable;
    this.#readViews = new ReadViews(durable);
    this.#tables = new Set(options.tables);
    this.#freezes = options.freezes;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    if (key[1] !== rowSpace || this.#committing?.get(key) !== undefined) return this.#durable.get<Value>(key);
    const written = this.#written.get(key);
    if (written !== undefined) return written.op === "put" ? (written.value as Value) : undefined;
    if (!this.covers(key)) return this.#durable.get<Value>(key);
    const group = findGroup(key);
    const name = nameIn(group, key);
    const cached = this.#rows.get(key[2])?.get(key[0])?.get(group)?.get(name);
    if (cached !== undefined) return cached as Value;
    const value = this.#durable.get<Value>(key);
    if (value !== undefined && estimateWeight(value, MAX_CACHED_WEIGHT) <= MAX_CACHED_WEIGHT)
      this.#cacheRow(key, value);
    return value;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    if (!this.covers(range.prefix) || !isFromStart(range) || this.#committing?.mayHoldBelow(range.prefix) === true) {
      return this.#durable.range<Value>(range);
    }
    const [partition, , table] = range.prefix;
    const name = keyName(range.prefix);
    const { limit = Number.POSITIVE_INFINITY } = range;
    const cached = this.#ranges.get(table)?.get(partition)?.byPrefix.get(name);
    if (cached !== undefined && (cached.areAll || limit <= cached.entries.length)) {
      return cached.entries.slice(0, range.limit) as Entry<Value>[];
    }
    const entries = this.#durable.range<Value>(range);
    const weight = estimateWeight(entries, MAX_RANGE_WEIGHT);
    // If there are fewer entries than the limit, the range has no other entries.
    if (weight <= MAX_RANGE_WEIGHT) this.#cacheRange(range.prefix, { entries, areAll: entries.length < limit }, weight);
    return [...entries];
  }

  readView<View>(view: ReadView<View>, partition: string): View {
    return this.#readViews.get(view, partition);
  }

  covers(key: Key): boolean {
    return key[1] === rowSpace && this.#tables.has(String(key[2]));
  }

  coveredVersion(partition: string, group?: KeyPart): number | null {
    const batch = this.#committing;
    if (batch !== null) {
      for (const table of this.#tables) if (batch.mayHoldBelow([partition, rowSpace, table])) return null;
    }
    if (group === undefined) return this.#getVersion(partition);
    return this.#groupVersions.get(partition)?.get(group) ?? this.#baseGroupVersion;
  }

  durableVersion(partition: string): number | null {
    const batch = this.#committing;
    const version = this.coveredVersion(partition);
    if (version !== null || batch === null) return version;
    for (const table of this.#tables) {
      for (const group of batch.groupsBelow([partition, rowSpace, table])) {
        for (const change of group.values()) if (this.#isUnwritten(change)) return this.#getVersion(partition);
      }
    }
    return null;
  }

  /**
   * Whether the batch being committed is not durable yet: the durable row differs from the batch's change. A batch is
   * durable as a whole or not at all, so one row is enough. Returns false if the row cannot be read.
   */
  #isUnwritten(change: Change): boolean {
    try {
      return !isAsWritten(this.#durable, change);
    } catch {
      return false;
    }
  }

  #getVersion(partition: string): number {
    return this.#versions.get(partition) ?? this.#baseVersion;
  }

  /** Notes that the commit of a batch begins. Until {@link flushed}, its keys are read from the underlying reading. */
  committing(batch: Overlay): void {
    this.#committing = batch;
    this.#wroteElsewhere = false;
    this.#readViews.committing(batch);
  }

  /** Caches the rows of the batch that was given to {@link committing}. Call this when that batch is durable. */
  flushed(): void {
    const batch = this.#committing;
    const isCached = batch !== null && batch.size <= MAX_WRITTEN_ROWS && !this.#wroteElsewhere;
    this.#written = isCached ? batch : new Overlay();
    this.#committing = null;
    this.#readViews.flushed();
  }

  applied(changes: readonly Change[], origin: Origin): void {
    if (origin === "elsewhere") {
      this.#written = new Overlay();
      this.#wroteElsewhere = true;
    }
    this.#readViews.applied(changes);
    for (const change of changes) {
      const { key } = change;
      if (change.op === "put" && ArrayBuffer.isView(change.value)) this.#written.unset(change);
      if (!this.covers(key)) continue;
      this.#ranges.get(key[2])?.delete(key[0]);
      this.#drop(key);
      this.#changed(key[0]);
      const group = key[3];
      if (group !== undefined && key.length > 4) this.#groupChanged(key[0], group);
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

  #groupChanged(partition: KeyPart | undefined, group: KeyPart): void {
    const groups = getOrCreateMap(this.#groupVersions, partition);
    const before = groups.size;
    groups.set(group, this.#lastVersion);
    this.#groupCount += groups.size - before;
    if (this.#groupCount <= MAX_VERSIONS) return;
    this.#groupVersions.clear();
    this.#groupCount = 0;
    this.#baseGroupVersion = this.#lastVersion;
  }

  #cacheRow(key: Key, value: unknown): void {
    if (this.#freezes) freeze(value);
    const group = findGroup(key);
    const rows = getOrCreateMap(getOrCreateMap(getOrCreateMap(this.#rows, key[2]), key[0]), group);
    const before = rows.size;
    rows.set(nameIn(group, key), value);
    this.#count += rows.size - before;
    if (this.#count > MAX_CACHED_ROWS) this.#dropOldest(rows);
  }

  #drop(key: Key): void {
    const group = findGroup(key);
    const rows = this.#rows.get(key[2])?.get(key[0])?.get(group);
    if (rows?.delete(nameIn(group, key)) === true) this.#count -= 1;
  }

  /** Drops the oldest row of `rows`. If that is the only row in `rows`, drops all cached rows instead. */
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

  #cacheRange(prefix: Key, range: CachedRange, weight: number): void {
    const [partition, , table] = prefix;
    const partitions = getOrCreateMap(this.#ranges, table);
    if (partitions.size >= MAX_CACHED_RANGES && !partitions.has(partition)) partitions.clear();
    let ranges = partitions.get(partition);
    if (
      ranges === undefined ||
      ranges.byPrefix.size >= MAX_CACHED_RANGES ||
      ranges.weight + weight > MAX_RANGES_WEIGHT
    ) {
      ranges = { byPrefix: new Map(), weight: 0 };
      partitions.set(partition, ranges);
    }
    ranges.byPrefix.set(keyName(prefix), range);
    ranges.weight += weight;
  }
}

/** The first entries of a range, or all of them. */
interface CachedRange {
  readonly entries: readonly Entry[];
  readonly areAll: boolean;
}

/** The cached ranges of one table and partition, and their total weight. */
interface CachedRanges {
  readonly byPrefix: Map<string, CachedRange>;
  weight: number;
}

/**
 * Returns the first part of a two-part id; undefined for other keys. Two lookups per read cost less than joining the
 * parts into one name.
 */
function findGroup(key: Key): string | undefined {
  const first = key[3];
  return key.length === 5 && typeof first === "string" && typeof key[4] === "string" ? first : undefined;
}

/** Returns the name of a row's key within its group. */
function nameIn(group: string | undefined, key: Key): string {
  return group === undefined ? keyName(key) : String(key[4]);
}

/** Whether the range starts at the first entry below its prefix, in ascending order, and skips nothing. */
function isFromStart({ after, before, reverse, onDamaged }: Range): boolean {
  // A read that skips damaged rows does not return the complete range.
  return after === undefined && before === undefined && reverse !== true && onDamaged === undefined;
}
