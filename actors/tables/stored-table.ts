import type { Entry, Reading } from "../../storage/store.js";

/**
 * A table as its area lists it. The optional members exist if the table has indexes, or if its rows refer to bodies.
 */
export interface StoredTable {
  readonly name: string;
  /** The tables of entries that depend only on the rows: indexes and derived rows. */
  readonly dependentTables?: readonly string[];
  /** Yields the entries of the dependent tables that should exist. */
  dependents?(reading: Reading, partition: string): Iterable<Entry>;
  /** Whether rows may refer to bodies (`blobs.ts`). */
  readonly hasBodies?: boolean;
  /** Yields, for each row, the digests of the bodies that the row refers to. */
  referrals?(reading: Reading, partition: string): Iterable<readonly string[]>;
}

/** A table or directory whose small rows the runtime caches in memory, so that a read decodes nothing. */
export interface CachedTable {
  readonly table: StoredTable;
  readonly isCached: true;
}

/** Declares that almost every request or step reads the rows of a table, so that the runtime should cache them. */
export function cached(table: StoredTable): CachedTable {
  return { table, isCached: true };
}
