import { LRUCache } from "lru-cache";

/**
 * Creates a cache of at most `max` entries. When it is full, it evicts the entry that was used least recently. Unlike
 * the library's own `max` option, it allocates no memory for entries that it does not have yet.
 */
export function createRecentEntries<Value extends object | true>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
