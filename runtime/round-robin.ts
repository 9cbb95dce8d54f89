import { Queue } from "./queue.js";

/** Parties for which nothing waits any more that keep their queues: most are about again soon. */
const MAX_IDLE = 64;

/** What waits, by the party it is for: parties are served in turn, and of one party's what came first goes first. */
export class RoundRobin<Item> {
  readonly #byParty = new Map<string, Queue<Item>>();
  /** Of the parties for which something waits. */
  readonly #turns = new Queue<Queue<Item>>();
  #length = 0;

  /** How many wait. */
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
