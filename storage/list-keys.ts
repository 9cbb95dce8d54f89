import { compareKeys } from "./key-order.js";
import type { Key, Range, Reading } from "./store.js";

/**
 * Lists the keys of a range in ascending order. Includes the keys of damaged entries, which do not count against the
 * limit. The key of a damaged entry may itself be damaged and lie outside the range.
 */
export function listKeys(reading: Reading, range: Range): Key[] {
  const damaged: Key[] = [];
  const keys = reading.range({ ...range, onDamaged: (key) => damaged.push(key) }).map(({ key }) => key);
  if (range.reverse === true) keys.reverse();
  return damaged.length === 0 ? keys : [...keys, ...damaged].sort(compareKeys);
}
