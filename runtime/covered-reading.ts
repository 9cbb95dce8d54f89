import type { Entry, Key, Range, Reading } from "../storage/store.js";

/** A reading that has rows of some tables in memory, and knows when any of them change. */
export interface CoveringReading extends Reading {
  /** Whether the key's row is of such a table. */
  covers(key: Key): boolean;
  /**
   * A number that changes whenever such rows of the partition do; null while a batch with some of them is being
   * committed, since they may or may not be durable yet.
   */
  coveredVersion(partition: string): number | null;
}

/** The version of the partition's covered rows as the reading sees them now; null where none is known. */
export function coveredVersion(reading: Reading, partition: string): number | null {
  return isCovering(reading) ? reading.coveredVersion(partition) : null;
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
    this.isCovered &&= key[0] === this.#partition && isCovering(this.#reading) && this.#reading.covers(key);
  }
}

function isCovering(reading: Reading): reading is CoveringReading {
  return "coveredVersion" in reading;
}
