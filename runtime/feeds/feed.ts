import { feedSpace } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import { type Change, isDamage, type Key, type Reading } from "../../storage/store.js";
import type { Origin, RowMemory } from "../rows/row-memory.js";
import { estimateWeight } from "../rows/weight.js";
import type { Feed, FeedEntry } from "../runtime.js";
import { Queue } from "../schedule/queue.js";
import { getOrCreateMap } from "../turns/overlay.js";
import { withFeedTexts } from "./feed-texts.js";

/** Entries of one batch in one partition, stored under the sequence number of the last entry. */
type FeedRow = readonly StoredEntry[];

interface StoredEntry extends FeedEntry {
  /**
   * The weight of all entries of the partition up to this entry. Only the last entry of a row has it. Absent in rows
   * from earlier releases.
   */
  readonly total?: number;
}

/** A feed row in memory: the sequence number of its last entry, and the total weight up to it. */
interface RowEnd {
  readonly seq: number;
  readonly total: number | undefined;
}

/** Limits of a partition's stored feed: the number of entries, and their approximate size in bytes. */
export interface FeedLimits {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * The ends of one partition's feed, including unflushed entries. `first` is the sequence number at which the stored
 * entries begin, `last` that of the newest entry.
 */
interface Ends {
  first: number;
  last: number;
  /** `total` is the weight of all entries so far. `trimmed` is the weight of the entries before `first`. */
  total: number;
  trimmed: number;
  /** Number of the latest batch that added an entry. */
  batch: number;
  /** Rows from this sequence number on are in `written`. Earlier rows were already in the store. */
  readonly writtenFrom: number;
  readonly written: Queue<RowEnd>;
  /** The oldest rows before `writtenFrom`, up to {@link ROWS_READ} of them. */
  readonly read: Queue<RowEnd>;
}

/** An entry that waits for the flush of its batch. */
export interface PendingEntry {
  readonly partition: string;
  readonly entry: FeedEntry;
}

/**
 * Maximum number of partitions whose {@link Ends} stay in memory. For other partitions, the feed reads the ends from
 * the store.
 */
const MAX_CACHED_PARTITIONS = 10_000;
/** Maximum number of entries in one row; about as many as fit into a page of the store. */
const ENTRIES_IN_ROW = 32;
/** Number of rows read at a time for trimming. */
const ROWS_READ = 32;
/** Maximum number of rows removed when one row is written. */
const ROWS_REMOVED = 32;

/**
 * The change feed of every partition.
 *
 * 1. The sequence numbers of a partition increase by one, also across restarts. The last entry is never trimmed,
 *   because it stores the last number.
 * 2. Readers and listeners receive only durable entries.
 * 3. A row is removed when none of its entries is among the newest `entries` entries, or while the stored entries
 *   weigh more than `bytes`. The last row is never removed, so it alone may exceed the limit in bytes.
 * 4. If a row is damaged, readers get "too-old". The sequence numbers of its entries are not reused.
 */
export class ChangeFeed implements Feed, RowMemory {
  readonly #reading: Reading;
  readonly #limits: FeedLimits;
  readonly #ends = new Map<string, Ends>();
  /** The functions to call with new entries, by partition, then by topic. */
  readonly #listeners = new Map<string, Map<string, Set<(entry: FeedEntry) => void>>>();
  /** The last released sequence number of each partition that has unreleased entries. */
  readonly #released = new Map<string, number>();
  /** The weight of the stored entries, by measured partition. */
  readonly #weights = new Map<string, number>();

  constructor(reading: Reading, { entries, bytes }: FeedLimits) {
    this.#reading = reading;
    this.#limits = { entries: Math.max(1, entries), bytes };
  }

  /**
   * Creates an entry with the next sequence number. `batch` is the number of the entry's batch. The row is written when
   * that batch closes.
   */
  append(partition: string, topic: string, data: unknown, batch: number): PendingEntry {
    const ends = this.#readEnds(partition);
    ends.batch = batch;
    if (!this.#released.has(partition)) this.#released.set(partition, ends.last);
    ends.last += 1;
    return { partition, entry: { seq: ends.last, topic, data: withFeedTexts(data) } };
  }

  /** Adds the rows of a batch's entries to `changes`, the changes of the batch. */
  write(entries: readonly PendingEntry[], changes: Change[]): void {
    const open = new Map<string, FeedEntry[]>();
    for (const { partition, entry } of entries) {
      const row = open.get(partition);
      if (row === undefined) open.set(partition, [entry]);
      else if (row.push(entry) === ENTRIES_IN_ROW) {
        this.#put(partition, row, changes);
        open.delete(partition);
      }
    }
    for (const [partition, row] of open) this.#put(partition, row, changes);
  }

  /** Passes flushed entries to their listeners, in order. */
  release(entries: readonly PendingEntry[]): void {
    for (const { partition, entry } of entries) {
      if (this.#ends.get(partition)?.last === entry.seq) this.#released.delete(partition);
      else this.#released.set(partition, entry.seq);
      const listeners = this.#listeners.get(partition)?.get(entry.topic);
      if (listeners !== undefined) for (const listener of [...listeners]) listener(entry);
    }
  }

  /**
   * Drops cached ends of fully flushed partitions if there are too many. `flushed` is the number of the last durable
   * batch.
   */
  trimMemory(flushed: number): void {
    if (this.#ends.size <= MAX_CACHED_PARTITIONS) return;
    for (const [partition, ends] of this.#ends) if (ends.batch <= flushed) this.#ends.delete(partition);
  }

  /** Drops the cached ends of partitions that another node has appended to. */
  applied(changes: readonly Change[], origin: Origin): void {
    if (origin === "here") return;
    for (const { key } of changes) {
      if (key[1] !== feedSpace) continue;
      const partition = String(key[0]);
      this.#ends.delete(partition);
      this.#released.delete(partition);
      if (this.#weights.has(partition)) this.measure(partition);
    }
  }

  /** Approximate size of the entries of all measured partitions, in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const weight of this.#weights.values()) bytes += weight;
    return bytes;
  }

  measure(partition: string): void {
    this.#weights.set(partition, weightOf(this.#readEnds(partition)));
  }

  lastSeq(partition: string): number {
    const keys = listKeys(this.#reading, { prefix: [partition, feedSpace], limit: 1, reverse: true });
    // The key of a row holds its last sequence number.
    return Math.max(0, ...keys.map((key) => key[2]).filter((seq) => typeof seq === "number"));
  }

  releasedSeq(partition: string): number {
    return this.#released.get(partition) ?? this.lastSeq(partition);
  }

  since(partition: string, topic: string, after: number): readonly FeedEntry[] | "too-old" {
    return this.sinceOf(partition, new Set([topic]), after);
  }

  sinceOf(partition: string, topics: ReadonlySet<string>, after: number): readonly FeedEntry[] | "too-old" {
    const last = this.lastSeq(partition);
    if (after > last || after < this.#firstSeq(partition) - 1) return "too-old";
    if (after === last) return [];
    try {
      return listStoredEntries(this.#reading, partition, after).filter(({ topic }) => topics.has(topic));
    } catch (error) {
      if (isDamage(error)) return "too-old";
      throw error;
    }
  }

  listen(partition: string, topic: string, listener: (entry: FeedEntry) => void): () => void {
    const topics = getOrCreateMap(this.#listeners, partition);
    const listeners = topics.get(topic) ?? new Set();
    topics.set(topic, listeners);
    // Wrap the function, so that calling `listen` twice with the same function creates two listeners.
    const own = (entry: FeedEntry): void => listener(entry);
    listeners.add(own);
    return () => {
      listeners.delete(own);
      if (listeners.size > 0 || topics.get(topic) !== listeners) return;
      topics.delete(topic);
      if (topics.size === 0 && this.#listeners.get(partition) === topics) this.#listeners.delete(partition);
    };
  }

  #firstSeq(partition: string): number {
    return this.#endRow(partition, "first")?.[0]?.seq ?? this.lastSeq(partition) + 1;
  }

  /** Reads the first or last undamaged row; undefined if there is none. */
  #endRow(partition: string, end: "first" | "last"): FeedRow | undefined {
    const range = { prefix: [partition, feedSpace], limit: 1, reverse: end === "last", onDamaged: skipDamaged };
    return this.#reading.range<FeedRow>(range)[0]?.value;
  }

  #readEnds(partition: string): Ends {
    const known = this.#ends.get(partition);
    if (known !== undefined) return known;
    const newest = this.#endRow(partition, "last")?.at(-1);
    const oldest = this.#endRow(partition, "first") ?? [];
    const last = this.lastSeq(partition);
    const trimmed = (oldest.at(-1)?.total ?? 0) - weigh(oldest);
    const rows = { writtenFrom: last + 1, written: new Queue<RowEnd>(), read: new Queue<RowEnd>() };
    const total = newest?.total ?? 0;
    const ends: Ends = { first: oldest[0]?.seq ?? last + 1, last, total, trimmed, batch: 0, ...rows };
    this.#ends.set(partition, ends);
    return ends;
  }

  /** Writes a row, and trims the feed. */
  #put(partition: string, row: readonly FeedEntry[], changes: Change[]): void {
    const last = row.at(-1);
    if (last === undefined) return;
    const ends = this.#readEnds(partition);
    ends.total += weigh(row);
    const stored: FeedRow = [...row.slice(0, -1), { ...last, total: ends.total }];
    changes.push({ op: "put", key: feedKey(partition, last.seq), value: stored });
    ends.written.push({ seq: last.seq, total: ends.total });
    this.#trim(partition, ends, { last: last.seq, changes });
    if (this.#weights.has(partition)) this.#weights.set(partition, weightOf(ends));
  }

  /** Removes the oldest rows while the feed exceeds its limits. `last` is the sequence number of the newest entry. */
  #trim(partition: string, ends: Ends, { last, changes }: { readonly last: number; readonly changes: Change[] }): void {
    for (let removed = 0; removed < ROWS_REMOVED; removed++) {
      const oldest = this.#oldestRows(partition, ends);
      const end = oldest.first();
      if (end === undefined || !this.#isOver(ends, last, end)) return;
      oldest.take();
      changes.push({ op: "remove", key: feedKey(partition, end.seq) });
      ends.first = end.seq + 1;
      ends.trimmed = end.total ?? 0;
    }
  }

  /** Whether to remove the oldest row, which ends at `oldest`. The last row stays, so that the numbering continues. */
  #isOver({ total, trimmed }: Ends, last: number, oldest: RowEnd): boolean {
    if (oldest.seq === last) return false;
    const isOld = last - oldest.seq >= this.#limits.entries;
    return isOld || total - trimmed > this.#limits.bytes || oldest.total === undefined;
  }

  /** Returns the queue whose first item is the oldest row. */
  #oldestRows(partition: string, ends: Ends): Queue<RowEnd> {
    const { first, writtenFrom, written, read } = ends;
    if (first >= writtenFrom) return written;
    if (read.length > 0) return read;
    const bounds = { after: feedKey(partition, first - 1), before: feedKey(partition, writtenFrom) };
    const range = { prefix: [partition, feedSpace], ...bounds, limit: ROWS_READ, onDamaged: skipDamaged };
    for (const { key, value } of this.#reading.range<FeedRow>(range)) {
      read.push({ seq: Number(key[2]), total: value.at(-1)?.total });
    }
    if (read.length > 0) return read;
    // No row before `writtenFrom` was readable, so all of them are damaged. Continue with the written rows.
    ends.first = writtenFrom;
    return written;
  }
}

/** Returns the weight of a partition's stored entries. */
function weightOf({ total, trimmed }: Ends): number {
  return total - trimmed;
}

function skipDamaged(): void {
  // Skip the row: `signalbox doctor` removes damaged rows.
}

/** Lists a partition's durable entries with a `seq` above `after`, in order. */
export function listStoredEntries(reading: Reading, partition: string, after = 0): FeedEntry[] {
  const rows = reading.range<FeedRow>({ prefix: [partition, feedSpace], after: feedKey(partition, after) });
  const entries = rows.flatMap(({ value }) => value).filter(({ seq }) => seq > after);
  return entries.map(({ seq, topic, data }) => ({ seq, topic, data }));
}

export function feedKey(partition: string, seq: number): Key {
  return [partition, feedSpace, seq];
}

/** Estimates the size of entries on disk, in bytes. */
function weigh(entries: readonly FeedEntry[]): number {
  let weight = 0;
  for (const { topic, data } of entries)
    weight += topic.length + estimateWeight(data, Number.POSITIVE_INFINITY, Buffer.byteLength);
  return weight;
}
