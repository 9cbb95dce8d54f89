/** A first-in first-out queue. Taking from the front costs nothing that grows with its length. */
export class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** The item at the front, left there. */
  first(): Item | undefined {
    return this.#items[this.#head];
  }

  take(): Item | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Keeps the items that pass, in order; hands back the others. */
  removeWhere(leaves: (item: Item) => boolean): Item[] {
    const gone: Item[] = [];
    const kept: Item[] = [];
    for (let index = this.#head; index < this.#items.length; index++) {
      const item = this.#items[index] as Item;
      (leaves(item) ? gone : kept).push(item);
    }
    this.#items = kept;
    this.#head = 0;
    return gone;
  }
}
