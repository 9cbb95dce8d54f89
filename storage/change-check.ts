import { checkKey } from "./key-check.js";
import type { Change } from "./store.js";

/**
 * Throws when no store can hold the change: as {@link checkKey} for its key, `TypeError` for a value that is nothing
 * at all once read back (undefined, a function, a symbol). What lies inside a value is not looked through.
 */
export function checkChange(change: Change): void {
  checkKey(change.key);
  if (change.op === "put" && ["undefined", "function", "symbol"].includes(typeof change.value)) {
    throw new TypeError(`${typeof change.value} is no value that a store can keep`);
  }
}
