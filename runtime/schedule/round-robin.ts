import { Queue } from "./queue.js";

/** Number of clients whose empty queues are kept. Most clients soon add items again. */
const MAX_IDLE = 64;

/** Waiting items by client. Clients take turns; within a client, items are served in order of arrival. */
export class RoundRobin<Item> {
  readonly #byClient = new Map<string, Queue<Item>>();
  /** Queues of the clients that have waiting items. */
  readonly #turns = new Queue<Queue<Item>>();
  #length = 0;

  /** Number of waiting items. */
  get length(): number {
    return this.#length;
  }

  push(client: string, item: Item): void {
    const own = this.#byClient.get(client) ?? this.#begin(client);
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

  #begin(client: string): Queue<Item> {
    if (this.#byClient.size >= this.#turns.length + MAX_IDLE) {
      for (const [other, { length }] of this.#byClient) if (length === 0) this.#byClient.delete(other);
    }
    const own: Queue<Item> = new Queue();
    this.#byClient.set(client, own);
    return own;
  }
}
