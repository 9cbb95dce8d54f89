import { Queue } from "./queue.js";

/**
 * What waits for one of a number of places, by the party it is for, so that none of them keeps the others waiting.
 *
 * 1. Parties that wait are given places in turn; of one party's, what came first goes first.
 * 2. No party has more than its share of the places, however many are free: a quarter is left to the others.
 */
export class FairQueue<Item> {
  /** The party whose turn is next stands first. */
  readonly #waiting = new Map<string, Queue<Item>>();
  readonly #placed = new Map<string, number>();
  readonly #share: number;
  #length = 0;

  constructor(places: number) {
    this.#share = places - Math.floor(places / 4);
  }

  /** How many wait. */
  get length(): number {
    return this.#length;
  }

  push(party: string, item: Item): void {
    let own = this.#waiting.get(party);
    if (own === undefined) {
      own = new Queue();
      this.#waiting.set(party, own);
    }
    own.push(item);
    this.#length += 1;
  }

  /** Gives the next that may have a place its place; it has it until `leave`. */
  take(): Item | undefined {
    for (const [party, own] of this.#waiting) {
      const placed = this.#placed.get(party) ?? 0;
      if (placed >= this.#share) continue;
      const item = own.take();
      if (own.length === 0 || this.#waiting.size > 1) this.#waiting.delete(party);
      if (own.length > 0) this.#waiting.set(party, own);
      this.#placed.set(party, placed + 1);
      this.#length -= 1;
      return item;
    }
    return undefined;
  }

  /** A place of the party's is free again. */
  leave(party: string): void {
    const placed = this.#placed.get(party) ?? 0;
    if (placed > 1) this.#placed.set(party, placed - 1);
    else this.#placed.delete(party);
  }
}
