/** A value of a file. Strings may contain marks of expressions until they are evaluated. */
export type Value = null | boolean | number | bigint | string | readonly Value[] | ValueMap;
export interface ValueMap {
  readonly [name: string]: Value;
}

export function isMap(value: Value | undefined): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** The weight of a value without its text or elements. */
const PLAIN = 8;

/**
 * Computes the weight of values. A weight is about the length of the value as text. Caches the weight of each list and
 * map.
 */
export class Weights {
  readonly #known = new WeakMap<object, number>();

  weigh(value: Value): number {
    if (typeof value === "string") return PLAIN + value.length;
    if (typeof value !== "object" || value === null) return PLAIN;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    let weight = PLAIN;
    for (const [name, each] of Object.entries(value)) weight += name.length + this.weigh(each as Value);
    this.#known.set(value, weight);
    return weight;
  }
}
