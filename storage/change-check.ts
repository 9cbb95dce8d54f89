import { checkKey } from "./key-check.js";
import type { Change } from "./store.js";

/**
 * Throws if no store can hold the change:
 *
 * - the errors of {@link checkKey}, for its key
 * - a `TypeError`, if its value is undefined, a function or a symbol
 *
 * Does not check what is inside a value.
 */
export function checkChange(change: Change): void {
  checkKey(change.key);
  if (change.op === "put") checkValue(change.value);
}

/** Throws a `TypeError` for a value that no store can hold; see {@link checkChange}. */
export function checkValue(value: unknown): void {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`a store cannot hold a value of type ${typeof value}`);
  }
}
