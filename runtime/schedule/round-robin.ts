import { Queue } from "./queue.js";

/** Number of parties that keep their empty queues, because most parties soon add items again. */
const MAX_IDLE = 64;

/** Waiting items by party. Parties take turns; within a party, items are served in order of arrival. */
export class RoundRobin<Item> {
  readonly #byParty = new Map<string, Queue<Item>>();
  /** Queues of the parties that have waiting items. */
  readonly #turns = new Queue<Queue<Item>>();
  #length = 0;

  /** Number of waiting items. */
  get length(): number {
    return this.#length;
  }

  push(party: string, item: Item): void {
    const own = this.#byParty.get(party) ?? this.#begin(party);
    if (own.length === 0) this.#turns.push(own);
    own.push(item);
    this.#length += 1;
  }

  take(): Item | undefined {
    const own = this.#turns.take();
    if (own === undefined) return undefined;
    const item = own.take();
    this.#length -= 1;
    if (own.length > 0) this.#turns.push(own);
    return item;
  }

  #begin(party: string): Queue<Item> {
    if (this.#byParty.size >= this.#turns.length + MAX_IDLE) {
      for (const [other, { length }] of this.#byParty) if (length === 0) this.#byParty.delete(other);
    }
    const own: Queue<Item> = new Queue();
    this.#byParty.set(party, own);
    return own;
  }
}
