import { Queue } from "./queue.js";

/** What waits, by the party it is for: parties are served in turn, and of one party's what came first goes first. */
export class RoundRobin<Item> {
  readonly #byParty = new Map<string, Queue<Item>>();
  /** Parties for which something waits. */
  readonly #turns = new Queue<string>();
  #length = 0;

  /** How many wait. */
  get length(): number {
    return this.#length;
  }

  push(party: string, item: Item): void {
    let own = this.#byParty.get(party);
    if (own === undefined) {
      own = new Queue();
      this.#byParty.set(party, own);
      this.#turns.push(party);
    }
    own.push(item);
    this.#length += 1;
  }

  take(): Item | undefined {
    const party = this.#turns.take();
    const own = party === undefined ? undefined : this.#byParty.get(party);
    if (party === undefined || own === undefined) return undefined;
    const item = own.take();
    this.#length -= 1;
    if (own.length > 0) this.#turns.push(party);
    else this.#byParty.delete(party);
    return item;
  }
}
