import { feedSpace } from "../storage/keys.js";
import type { Change, Entry, Key, Reading } from "../storage/store.js";
import type { Feed, FeedEntry } from "./runtime.js";

/** What is stored of an entry; its sequence number is in its key. */
interface FeedRow {
  readonly topic: string;
  readonly data: unknown;
}

/** Where the feed of one partition stands, unflushed entries included. */
interface Ends {
  first: number;
  last: number;
  /** The latest batch that wrote to it. */
  batch: number;
}

/** An entry that waits for its flush. */
export interface PendingEntry {
  readonly partition: string;
  readonly entry: FeedEntry;
}

/** Ends of this many partitions are remembered; those of others are read from the store again. */
const PARTITIONS_HELD = 10_000;

/**
 * The change feed of every partition.
 *
 * 1. Sequence numbers of a partition rise by one, across restarts too: the last entry is never trimmed.
 * 2. What is read or heard is durable.
 */
export class ChangeFeed implements Feed {
  readonly #reading: Reading;
  readonly #kept: number;
  readonly #ends = new Map<string, Ends>();
  readonly #listeners = new Map<string, Set<(entry: FeedEntry) => void>>();

  constructor(reading: Reading, kept: number) {
    this.#reading = reading;
    this.#kept = Math.max(1, kept);
  }

  /** Appends to the feed of `partition` in batch number `batch`; the rows go to `changes`. */
  append(partition: string, topic: string, data: unknown, batch: number, changes: Change[]): PendingEntry {
    const ends = this.#endsOf(partition);
    ends.batch = batch;
    ends.last += 1;
    const row: FeedRow = { topic, data };
    changes.push({ op: "put", key: keyOf(partition, ends.last), value: row });
    for (; ends.last - ends.first >= this.#kept; ends.first++) {
      changes.push({ op: "remove", key: keyOf(partition, ends.first) });
    }
    return { partition, entry: { seq: ends.last, topic, data } };
  }

  /** Tells listeners of entries whose flush has ended, in order. */
  release(entries: readonly PendingEntry[]): void {
    for (const { partition, entry } of entries) {
      const listeners = this.#listeners.get(listenerKey(partition, entry.topic));
      if (listeners !== undefined) for (const hear of [...listeners]) hear(entry);
    }
  }

  /** Forgets the ends of partitions that the store can tell again; `flushed` is the last durable batch. */
  trimMemory(flushed: number): void {
    if (this.#ends.size <= PARTITIONS_HELD) return;
    for (const [partition, ends] of this.#ends) if (ends.batch <= flushed) this.#ends.delete(partition);
  }

  lastSeq(partition: string): number {
    return seqOf(this.#reading.range({ prefix: [partition, feedSpace], limit: 1, reverse: true })[0]);
  }

  since(partition: string, topic: string, after: number): readonly FeedEntry[] | "too-old" {
    const prefix = [partition, feedSpace];
    const first = seqOf(this.#reading.range({ prefix, limit: 1 })[0]);
    const last = this.lastSeq(partition);
    if (after > last || after < first - 1) return "too-old";
    if (after === last) return [];
    const rows = this.#reading.range<FeedRow>({ prefix, after: keyOf(partition, after) });
    return rows
      .filter((row) => row.value.topic === topic)
      .map((row) => ({ seq: seqOf(row), topic, data: row.value.data }));
  }

  listen(partition: string, topic: string, hear: (entry: FeedEntry) => void): () => void {
    const key = listenerKey(partition, topic);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners);
    // One function may listen twice; each call is a listener of its own.
    const listener = (entry: FeedEntry): void => hear(entry);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  #endsOf(partition: string): Ends {
    const known = this.#ends.get(partition);
    if (known !== undefined) return known;
    const last = this.lastSeq(partition);
    const first = last === 0 ? 1 : seqOf(this.#reading.range({ prefix: [partition, feedSpace], limit: 1 })[0]);
    const ends: Ends = { first, last, batch: 0 };
    this.#ends.set(partition, ends);
    return ends;
  }
}

function keyOf(partition: string, seq: number): Key {
  return [partition, feedSpace, seq];
}

/** The sequence number of a row; 0 when there is none. */
function seqOf(row: Entry | undefined): number {
  return row === undefined ? 0 : Number(row.key[2]);
}

function listenerKey(partition: string, topic: string): string {
  return `${partition}\0${topic}`;
}
