import { checkKey } from "./key-check.js";
import type { Change } from "./store.js";

/**
 * Throws when no store can hold the change: as {@link checkKey} for its key, a `TypeError` for a value that could not
 * be read back (undefined, a function, a symbol). Does not look inside a value.
 */
export function checkChange(change: Change): void {
  checkKey(change.key);
  if (change.op === "put") checkValue(change.value);
}

/** Throws a `TypeError` for a value that no store can hold; see {@link checkChange}. */
export function checkValue(value: unknown): void {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`${typeof value} is no value that a store can keep`);
  }
}
