/** Limits on the memory that request bodies use. */
export interface RoomLimits {
  readonly bytes: number;
  /** Reserved for clients that hold no bytes yet, whatever the other clients hold. */
  readonly keptBytes: number;
  readonly bytesPerParty: number;
}

/** Maximum size of a small body, in bytes. Almost all bodies are small. */
const SMALL_BYTES = 64 * 1024;
/**
 * Limits of small and long bodies. One client's limit fits several bodies of maximum size, or very many ordinary ones.
 */
const SMALL: RoomLimits = { bytes: 64 * 1024 ** 2, keptBytes: 16 * 1024 ** 2, bytesPerParty: 8 * 1024 ** 2 };
const LONG: RoomLimits = { bytes: 256 * 1024 ** 2, keptBytes: 64 * 1024 ** 2, bytesPerParty: 32 * 1024 ** 2 };

/** Which limit a body exceeds: its own client's (`party`), or the limit of the whole process. */
export type Crowd = "party" | "process";

/** The memory that one body reserves. */
export interface BodyHold {
  /**
   * Reserves `bytes` in total for the body, in place of its earlier reservation. Returns null, or the limit that it
   * exceeds.
   */
  hold(bytes: number): Crowd | null;
  /** Releases the whole reservation. */
  end(): void;
}

/**
 * Limits the memory that the bodies of in-flight requests use, so that no client's bodies block those of other clients.
 * A party is one client; a share is a part of it.
 *
 * 1. Small and long bodies have separate limits, so long bodies never block small ones.
 * 2. A party has its own limit, a share of a party may use half of that limit, and all parties together have a total
 *    limit.
 * 3. A party that holds bytes gets no more once only the reserve (`keptBytes`) is left. Only parties that hold none may
 *    use the reserve.
 */
export class BodyRoom {
  readonly #small: Room;
  readonly #long: Room;

  constructor(small: RoomLimits = SMALL, long: RoomLimits = LONG) {
    this.#small = new Room(small);
    this.#long = new Room(long);
  }

  /** Creates a reservation for one body of the party, or of a share of the party. It is empty at first. */
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

  /** Bytes that all bodies hold together. */
  get bytes(): number {
    return this.#small.bytes + this.#long.bytes;
  }
}

class Room {
  readonly #limits: RoomLimits;
  /** Bytes by party and by share. Zero entries are removed. */
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
