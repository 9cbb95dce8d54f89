import type { Entry, Reading } from "../../storage/store.js";

/** A table whose indexes and derived rows can be written again from its rows. */
export interface DependentSource {
  readonly name: string;
  /** The tables of the entries. */
  readonly dependentTables: readonly string[];
  /** The entries that there should be. */
  dependents(reading: Reading, partition: string): Iterable<Entry>;
}
