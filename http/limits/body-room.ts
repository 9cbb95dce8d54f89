/** Bytes that bodies may hold together. */
export interface RoomLimits {
  readonly bytes: number;
  /** Left for parties that hold none of them, whatever the others hang on to. */
  readonly keptBytes: number;
  readonly bytesPerParty: number;
}

/** Longest body that counts as small, in bytes: nearly all are. */
const SMALL_BYTES = 64 * 1024;
/** A party's own bounds hold several of the longest bodies, or very many ordinary ones. */
const SMALL: RoomLimits = { bytes: 64 * 1024 ** 2, keptBytes: 16 * 1024 ** 2, bytesPerParty: 8 * 1024 ** 2 };
const LONG: RoomLimits = { bytes: 256 * 1024 ** 2, keptBytes: 64 * 1024 ** 2, bytesPerParty: 32 * 1024 ** 2 };

/** Whose bytes leave no room for a body: its own party's, or everybody's together. */
export type Crowd = "party" | "process";

/** Room in memory for one body. */
export interface BodyHold {
  /** Makes room for a body of `bytes` in all, in place of what it held; otherwise says why there is none. */
  hold(bytes: number): Crowd | null;
  /** Gives all of it back. */
  end(): void;
}

/**
 * Bounds what the bodies of requests under way hold in memory, so that nobody's bodies leave no room for another's.
 *
 * 1. Small bodies and long ones have bounds of their own: however many long ones are under way, small ones pass.
 * 2. Nobody holds more than a party's bound, a share of one no more than half of it, and all together no more than the
 *    whole.
 * 3. A party that holds some has no more once only what is kept is left, which parties without any have.
 */
export class BodyRoom {
  readonly #small: Room;
  readonly #long: Room;

  constructor(small: RoomLimits = SMALL, long: RoomLimits = LONG) {
    this.#small = new Room(small);
    this.#long = new Room(long);
  }

  /** Room for one body of the party, or of a share of it; none of it is taken yet. */
  enter(party: string, share: string = party): BodyHold {
    let room = this.#small;
    let held = 0;
    const by = share === party ? [party] : [party, share];
    const hold = (bytes: number): Crowd | null => {
      room.release(by, held);
      const next = bytes > SMALL_BYTES ? this.#long : this.#small;
      const crowd = next.take(by, bytes);
      [room, held] = crowd === null ? [next, bytes] : [room, 0];
      return crowd;
    };
    return {
      hold,
      end: () => {
        room.release(by, held);
        held = 0;
      },
    };
  }

  /** Bytes that are held, by everybody. */
  get bytes(): number {
    return this.#small.bytes + this.#long.bytes;
  }
}

class Room {
  readonly #limits: RoomLimits;
  /** By party and by share, none of them 0. */
  readonly #held = new Map<string, number>();
  bytes = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  take(by: readonly string[], bytes: number): Crowd | null {
    const { bytes: most, keptBytes, bytesPerParty } = this.#limits;
    const [party = "", share = party] = by;
    if (this.#heldBy(party) + bytes > bytesPerParty) return "party";
    if (share !== party && this.#heldBy(share) + bytes > bytesPerParty / 2) return "party";
    const holdsNone = this.#heldBy(party) === 0;
    if (this.bytes + bytes > (holdsNone ? most : most - keptBytes)) return "process";
    this.bytes += bytes;
    if (bytes > 0) for (const name of by) this.#held.set(name, this.#heldBy(name) + bytes);
    return null;
  }

  release(by: readonly string[], bytes: number): void {
    if (bytes === 0) return;
    this.bytes -= bytes;
    for (const name of by) {
      const left = this.#heldBy(name) - bytes;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    }
  }

  #heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }
}
