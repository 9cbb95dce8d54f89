/** Number of keys that may be added, beyond the current size, before this class copies its entries to a new map. */
const ADDED_BEFORE_MOVE = 64;

/**
 * A map for entries that are added and deleted frequently. When V8 grows or shrinks a `Map`, the old table refers to
 * the new one. Once an old table is in V8's old generation, it keeps every later table and its entries in memory until
 * the next major garbage collection.
 *
 * To limit this, this class regularly copies its entries to a new map. An iteration continues over the map from which
 * it started.
 */
export class TurnoverMap<Name, Value> {
  #entries = new Map<Name, Value>();
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(name: Name): Value | undefined {
    return this.#entries.get(name);
  }

  has(name: Name): boolean {
    return this.#entries.has(name);
  }

  set(name: Name, value: Value): void {
    const { size } = this.#entries;
    this.#entries.set(name, value);
    if (this.#entries.size === size) return;
    this.#added += 1;
    if (this.#added <= size + ADDED_BEFORE_MOVE) return;
    this.#entries = new Map(this.#entries);
    this.#added = 0;
  }

  delete(name: Name): boolean {
    return this.#entries.delete(name);
  }

  keys(): IterableIterator<Name> {
    return this.#entries.keys();
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Name, Value]> {
    return this.#entries.entries();
  }
}
