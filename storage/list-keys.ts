import { compareKeys } from "./key-order.js";
import type { Key, Range, Reading } from "./store.js";

/**
 * The keys of a range in ascending order, also those of damaged entries, which come on top of the limit. The keys of
 * damaged entries may be wrong themselves, and lie outside the range.
 */
export function listKeys(reading: Reading, range: Range): Key[] {
  const damaged: Key[] = [];
  const keys = reading.range({ ...range, onDamaged: (key) => damaged.push(key) }).map(({ key }) => key);
  if (range.reverse === true) keys.reverse();
  return damaged.length === 0 ? keys : [...keys, ...damaged].sort(compareKeys);
}
