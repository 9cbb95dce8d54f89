/** A value that can be a member of a {@link Bag}. */
export interface Member {
  /** Position in the bag, for the bag's use only; {@link ABSENT} if the member is in no bag. */
  place: number;
}

/** The `place` of a member that is in no bag. */
export const ABSENT = -1;

/**
 * An unordered collection that stays small while many members are added and removed. It is cheaper than a `Set`, which
 * keeps deleted members in memory for too long, as a `Map` does (see `turnover-map.ts`).
 */
export class Bag<Item extends Member> {
  readonly #members: Item[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Adds a member that is in no bag. */
  add(member: Item): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** Removes a member. Returns false if it is not in this bag. */
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

  /** Returns a copy of the current members. */
  list(): readonly Item[] {
    return [...this.#members];
  }
}
