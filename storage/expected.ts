import { type Key, StoreError } from "./store.js";
import { placeOf } from "./store-errors.js";

/**
 * The row under `key`, which an entry of an index, an address or a directory names. Throws `damaged` when the row is
 * absent: the entry and its row are written and removed together.
 */
export function expected<Row>(row: Row | undefined, key: Key): Row {
  if (row !== undefined) return row;
  const text =
    `a row that another row names is missing in the store (${placeOf(key)}): run npm run doctor on its folder, or ` +
    "restore a backup into another folder";
  throw new StoreError("damaged", text, { key });
}
