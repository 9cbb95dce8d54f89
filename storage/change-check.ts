import { checkKey } from "./key-check.js";
import type { Change } from "./store.js";

/**
 * Throws when no store can hold the change: as {@link checkKey} for its key, `TypeError` for a value that is nothing
 * at all once read back (undefined, a function, a symbol). What lies inside a value is not looked through.
 */
export function checkChange(change: Change): void {
  checkKey(change.key);
  if (change.op === "put") checkValue(change.value);
}

/** Throws the `TypeError` of {@link checkChange}. */
export function checkValue(value: unknown): void {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`${typeof value} is no value that a store can keep`);
  }
}
