/** Keys that are added beyond as many as are there, before the entries move to another map. */
const ADDED_BEFORE_MOVE = 64;

/**
 * A map of what comes and goes. When the engine moves the entries of a `Map` to a new table, the old table refers to the new
 * one: once one table is old, collections of young objects keep each table since, with whatever was in it, until the next
 * collection of all objects. Here entries move to a map of their own before that goes on for long. Iterations see the map
 * as it was when the entries moved.
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
