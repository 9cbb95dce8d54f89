import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The source of randomness for one simulated run, derived from its seed. */
export interface Chance {
  /** Returns an integer from `from` to `to`, inclusive. */
  between(from: number, to: number): number;
  /** Returns true once in `times` calls on average. */
  onceIn(times: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  bytes(count: number): Uint8Array;
}

export function createChance(seed: number): Chance {
  const generator = xoroshiro128plus(seed);
  const between = (from: number, to: number): number => uniformInt(generator, from, to);
  return {
    between,
    onceIn: (times) => between(1, times) === 1,
    pick: (items) => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    bytes: (count) => Uint8Array.from({ length: count }, () => between(0, 255)),
  };
}
