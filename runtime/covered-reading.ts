import type { Entry, Key, KeyPart, Range, Reading } from "../storage/store.js";

/** A reading that has rows of some tables in memory, and knows when any of them change. */
export interface CoveringReading extends Reading {
  /** Whether the key's row is of such a table. */
  covers(key: Key): boolean;
  /**
   * A number that changes whenever such rows of the partition do, or those of one group among them: the rows whose ids
   * have more than one part, by the first of it. Null while a batch with some rows of the partition is being committed,
   * since they may or may not be durable yet.
   */
  coveredVersion(partition: string, group?: KeyPart): number | null;
}

/** A covering reading of the durable state. */
interface DurableReading extends CoveringReading {
  /**
   * The same number for the partition's rows as they are durable now: while a batch with some of them is being committed,
   * that of before, as long as none of it is durable. Null once it may be, until that is told.
   */
  durableVersion(partition: string): number | null;
}

/** The version of the partition's covered rows, or of a group of them, as the reading sees them now; null if unknown. */
export function coveredVersion(reading: Reading, partition: string, group?: KeyPart): number | null {
  return isCovering(reading) ? reading.coveredVersion(partition, group) : null;
}

/** The version of the partition's covered rows as they are durable now, where the reading can tell; null if unknown. */
export function durableVersion(reading: Reading, partition: string): number | null {
  return isDurable(reading) ? reading.durableVersion(partition) : coveredVersion(reading, partition);
}

/** Whether the reading has the rows of the key's table in memory. */
export function covers(reading: Reading, key: Key): boolean {
  return isCovering(reading) && reading.covers(key);
}

/** A reading that notices whether all that was read through it stood in covered rows of one partition. */
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
