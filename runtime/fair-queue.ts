import { Queue } from "./queue.js";

/**
 * A queue for a limited number of places, shared fairly between parties.
 *
 * 1. Waiting parties get places in turn (round robin); the items of one party in the order they came.
 * 2. No party has more than three quarters of the places, however many are free: the rest is for others.
 */
export class FairQueue<Item> {
  /** By party, in the order of their turns. */
  readonly #waiting = new Map<string, Queue<Item>>();
  readonly #placed = new Map<string, number>();
  readonly #share: number;
  #length = 0;

  constructor(places: number) {
    this.#share = places - Math.floor(places / 4);
  }

  /** The number of waiting items. */
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

  /** Takes the next item that may have a place, which it holds until `leave`; undefined when there is none. */
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

  /** Frees a place of the party. */
  leave(party: string): void {
    const placed = this.#placed.get(party) ?? 0;
    if (placed > 1) this.#placed.set(party, placed - 1);
    else this.#placed.delete(party);
  }
}
