import { type Key, StoreError } from "./store.js";
import { toPlace } from "./store-errors.js";

/**
 * Returns the row under `key`. An index entry, an address or a directory refers to this row. Throws `damaged` if the
 * row is absent, because the entry and its row are always written and removed together.
 */
export function expected<Row>(row: Row | undefined, key: Key): Row {
  if (row !== undefined) return row;
  const text =
    `the store lacks a row that another row refers to (${toPlace(key)}): run signalbox doctor on its folder, or ` +
    "restore a backup into another folder";
  throw new StoreError("damaged", text, { key });
}
