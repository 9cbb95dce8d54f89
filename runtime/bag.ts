/** Something that a {@link Bag} may hold. */
export interface Member {
  /** Where it is, for the bag alone; {@link ABSENT} while it is in none. */
  place: number;
}

/** The place of what is in no bag. */
export const ABSENT = -1;

/**
 * Members in no order, of which many come and go while few are there: cheaper than a `Set`, whose members would outlive
 * their time as those of a `Map` do (`turnover-map.ts`).
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
