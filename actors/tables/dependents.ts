import type { Entry, Reading } from "../../storage/store.js";

/** A table whose indexes and derived rows can be rebuilt from its rows. */
export interface DependentSource {
  readonly name: string;
  /** The tables of the dependent entries. */
  readonly dependentTables: readonly string[];
  /** Yields the entries that should exist. */
  dependents(reading: Reading, partition: string): Iterable<Entry>;
}
