import type { Entry, Key, KeyPart, Range, Reading } from "../../storage/store.js";

/** A reading that caches the rows of some tables and detects changes to them. */
export interface CoveringReading extends Reading {
  /** Whether the key belongs to a cached table. */
  covers(key: Key): boolean;
  /**
   * Returns a number that changes whenever a cached row of the partition changes. Returns null while a batch with
   * cached rows of the partition is being committed, because these rows may or may not be durable.
   *
   * With `group`, only rows of that group count. A row is in the group if its id has several parts and the first part
   * is `group`.
   */
  coveredVersion(partition: string, group?: KeyPart): number | null;
}

/** A covering reading of durable state. */
interface DurableReading extends CoveringReading {
  /**
   * Returns a number that changes whenever a durable row of the partition changes. During a commit, this is the
   * previous number until a row of the batch may be durable. From then until the commit is confirmed, returns null.
   */
  durableVersion(partition: string): number | null;
}

/**
 * Returns the reading's current version of the partition's cached rows, or of one group of them. Returns null if the
 * version is unknown.
 */
export function coveredVersion(reading: Reading, partition: string, group?: KeyPart): number | null {
  return isCovering(reading) ? reading.coveredVersion(partition, group) : null;
}

/**
 * Returns the durable version of the partition's cached rows. If the reading does not provide one, returns its {@link
 * coveredVersion}. Returns null if the version is unknown.
 */
export function durableVersion(reading: Reading, partition: string): number | null {
  return isDurable(reading) ? reading.durableVersion(partition) : coveredVersion(reading, partition);
}

/** Whether the reading caches the table of the key. */
export function covers(reading: Reading, key: Key): boolean {
  return isCovering(reading) && reading.covers(key);
}

/** A reading that records whether all keys that its caller has read belong to cached tables of one partition. */
export class CoverTrace implements Reading {
  isCovered = true;
  readonly #reading: Reading;
  readonly #partition: string;

  constructor(reading: Reading, partition: string) {
    this.#reading = reading;
    this.#partition = partition;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    this.#note(key);
    return this.#reading.get<Value>(key);
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    this.#note(range.prefix);
    return this.#reading.range<Value>(range);
  }

  #note(key: Key): void {
    this.isCovered &&= key[0] === this.#partition && covers(this.#reading, key);
  }
}

function isCovering(reading: Reading): reading is CoveringReading {
  return "coveredVersion" in reading;
}

function isDurable(reading: Reading): reading is DurableReading {
  return "durableVersion" in reading;
}
