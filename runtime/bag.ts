/** Something that a {@link Bag} may hold. */
export interface Member {
  /** Where it is, for the bag alone; {@link ABSENT} while it is in none. */
  place: number;
}

/** The place of what is in no bag. */
export const ABSENT = -1;

/**
 * Members in no order, of which many come and go while few are there. A `Set` or a `Map` of them costs dear: when the engine
 * moves one to a new table, the old table refers to the new one, so that collections of young objects keep each table
 * since, and with them who was there, until the next collection of all objects.
 */
export class Bag<Item extends Member> {
  readonly #members: Item[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Adds one that is in no bag. */
  add(member: Item): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** Whether it was there. */
  remove(member: Item): boolean {
    const { place } = member;
    if (this.#members[place] !== member) return false;
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[place] = last;
      last.place = place;
    }
    member.place = ABSENT;
    return true;
  }

  /** Those that are there now. */
  list(): readonly Item[] {
    return [...this.#members];
  }
}
