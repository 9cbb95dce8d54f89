/**
 * A priority queue whose items can change their rank: a binary heap with an index of each item's position. Reading the
 * first item is O(1); adding or removing an item is O(log n).
 *
 * 1. No item ranks before its parent in the heap. After an item's rank has changed, call `put` with this item before
 *    any other call.
 */
export class Ranking<Item> {
  readonly #isBefore: (left: Item, right: Item) => boolean;
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();

  /** `isBefore` must be a strict total order. */
  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it to its new rank. */
  put(item: Item): void {
    const place = this.#places.get(item) ?? this.#items.length;
    this.#sink(item, this.#rise(item, place));
  }

  /** Removes an item if it exists. */
  remove(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#sink(last, this.#rise(last, place));
  }

  /** Moves the gap at `place` up to the item's position. Returns the gap's new index. */
  #rise(item: Item, place: number): number {
    let gap = place;
    while (gap > 0) {
      const above = (gap - 1) >> 1;
      const other = this.#items[above];
      if (other === undefined || !this.#isBefore(item, other)) break;
      this.#lay(other, gap);
      gap = above;
    }
    return gap;
  }

  /** Moves the gap at `place` down to the item's position, and puts the item there. */
  #sink(item: Item, place: number): void {
    let gap = place;
    for (;;) {
      const below = this.#firstBelow(gap);
      const other = this.#items[below];
      if (other === undefined || !this.#isBefore(other, item)) break;
      this.#lay(other, gap);
      gap = below;
    }
    this.#lay(item, gap);
  }

  /** Returns the index of the child that ranks first; an index beyond the end if there is none. */
  #firstBelow(place: number): number {
    const left = this.#items[2 * place + 1];
    const right = this.#items[2 * place + 2];
    const isRight = left !== undefined && right !== undefined && this.#isBefore(right, left);
    return isRight ? 2 * place + 2 : 2 * place + 1;
  }

  #lay(item: Item, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
