/**
 * Items by an order that may change while they are in it: the first is at hand, and putting or removing one takes as
 * many steps as the logarithm of how many there are (a binary heap that knows where each item lies).
 *
 * 1. Every item stands before those below it, unless its rank has changed since it was last put. Who changes a rank
 *    puts the item again before anything else is asked of the ranking.
 */
export class Ranking<Item> {
  readonly #isBefore: (left: Item, right: Item) => boolean;
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();

  /** `isBefore` is a total order: of two different items one is before the other. */
  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it to where it belongs now. */
  put(item: Item): void {
    const place = this.#places.get(item) ?? this.#items.length;
    this.#sink(item, this.#rise(item, place));
  }

  /** Takes an item out; one that is not there is fine. */
  remove(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#sink(last, this.#rise(last, place));
  }

  /** Moves the gap at `place` up until the item fits there; gives back where that is. */
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

  /** Moves the gap at `place` down until the item fits there, and lays it down. */
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

  /** Where the first of the two items right below a place lies; beyond the end when there is none. */
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
