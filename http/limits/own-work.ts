import { Queue } from "../../runtime/schedule/queue.js";

/** Requests of a party that have begun and wait, from which on others of its own hardly begin. */
const MANY_BEGUN = 4;
/** Turns of begun requests to one that begins: with less than {@link MANY_BEGUN}, and with as many. */
const BEGINS_AFTER = 1;
const BEGINS_RARELY_AFTER = 63;

/**
 * What came of waiting to begin: the turn, or none. `gone`: nobody waits for the answer any more. `late`: it waited
 * for too long.
 */
export type Begin = "turn" | "gone" | "late";

/** Whoever waits for an answer, and may leave. */
export interface Leaving {
  readonly isGone: boolean;
}

/** A request that waits to begin. */
interface Fresh {
  readonly begin: (how: Begin) => void;
  readonly client: Leaving;
  readonly latestMs: number;
}

function beginOf({ client, latestMs }: Fresh, nowMs: number): Begin {
  if (client.isGone) return "gone";
  return latestMs <= nowMs ? "late" : "turn";
}

/** Requests without a turn to take that are dropped at once: each still has to be counted. */
const MAX_DROPPED = 100;

/**
 * What waits of one party: requests that begin, and those that have begun, each in the order they came. Begun ones go
 * before when there are many, but never always: a few that take long do not hold up the others for long.
 */
export class OwnWork {
  readonly fresh = new Queue<Fresh>();
  readonly begun = new Queue<() => void>();
  /** Turns of begun requests since one began. */
  #sinceBegin = 0;

  get length(): number {
    return this.fresh.length + this.begun.length;
  }

  /** Gives the next of them its turn; false when none waits. */
  give(nowMs: number): boolean {
    const after = this.begun.length < MANY_BEGUN ? BEGINS_AFTER : BEGINS_RARELY_AFTER;
    const begins = this.fresh.length > 0 && (this.begun.length === 0 || this.#sinceBegin >= after);
    this.#sinceBegin = begins ? 0 : this.#sinceBegin + 1;
    if (begins) {
      const fresh = this.fresh.take();
      fresh?.begin(beginOf(fresh, nowMs));
      return fresh !== undefined;
    }
    const goOn = this.begun.take();
    goOn?.();
    return goOn !== undefined;
  }

  /** Lets go of those at the front that need no turn at `nowMs`; returns how many. */
  dropUnwanted(nowMs: number): number {
    for (let dropped = 0; dropped < MAX_DROPPED; dropped++) {
      const first = this.fresh.first();
      const begin = first === undefined ? "turn" : beginOf(first, nowMs);
      if (begin === "turn") return dropped;
      this.fresh.take()?.begin(begin);
    }
    return MAX_DROPPED;
  }

  /** Lets go of all whose clients have gone away; returns how many. */
  dropGone(): number {
    const gone = this.fresh.removeWhere(({ client }) => client.isGone);
    for (const { begin } of gone) begin("gone");
    return gone.length;
  }
}
