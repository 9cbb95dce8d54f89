/** A first-in first-out queue. The cost of taking from the front does not grow with the length. */
export class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Returns the first item without removing it; undefined if the queue is empty. */
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

  /** Removes and returns the matching items. The other items keep their order. */
  removeWhere(matches: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    const kept: Item[] = [];
    for (let index = this.#head; index < this.#items.length; index++) {
      const item = this.#items[index] as Item;
      (matches(item) ? removed : kept).push(item);
    }
    this.#items = kept;
    this.#head = 0;
    return removed;
  }
}
