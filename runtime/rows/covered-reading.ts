import type { Entry, Key, KeyPart, Range, Reading } from "../../storage/store.js";

/** A reading that caches the rows of some tables and detects changes to them. */
export interface CoveringReading extends Reading {
  /** Whether the key belongs to a cached table. */
  covers(key: Key): boolean;
  /**
   * Returns a number that changes whenever a cached row of the partition changes. With `group`, it tracks only the rows
   * of that group: rows whose ids have several parts, the first being `group`. Returns null while a batch that writes
   * cached rows of the partition is being committed, because those rows may or may not be durable.
   */
  coveredVersion(partition: string, group?: KeyPart): number | null;
}

/** A covering reading of durable state. */
interface DurableReading extends CoveringReading {
  /**
   * Returns the version number of the partition's currently durable rows. While a batch is being committed, this is the
   * earlier number as long as no row of the batch is durable. Returns null once a row may be durable, until the commit
   * is confirmed.
   */
  durableVersion(partition: string): number | null;
}

/**
 * Returns the version of the partition's cached rows, or of one group, as the reading currently sees them; null if
 * unknown.
 */
export function coveredVersion(reading: Reading, partition: string, group?: KeyPart): number | null {
  return isCovering(reading) ? reading.coveredVersion(partition, group) : null;
}

/**
 * Returns the version of the partition's cached rows in durable state. If the reading has no durable version, returns
 * {@link coveredVersion} instead. Null if unknown.
 */
export function durableVersion(reading: Reading, partition: string): number | null {
  return isDurable(reading) ? reading.durableVersion(partition) : coveredVersion(reading, partition);
}

/** Whether the reading caches the table of the key. */
export function covers(reading: Reading, key: Key): boolean {
  return isCovering(reading) && reading.covers(key);
}

/** Records whether all keys read through it belong to cached tables of one partition. */
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
