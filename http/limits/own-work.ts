import { Queue } from "../../runtime/schedule/queue.js";

/** If this many started requests of a client wait for a turn, new requests of the client start only rarely. */
const MANY_STARTED = 4;
/**
 * Number of turns that started requests get before the next new request starts. `BEGINS_AFTER` applies while fewer than
 * {@link MANY_STARTED} started requests wait, `BEGINS_RARELY_AFTER` otherwise.
 */
const BEGINS_AFTER = 1;
const BEGINS_RARELY_AFTER = 63;

/**
 * The result of waiting to start. `turn`: the request may start. `gone`: the client disconnected. `late`: the request
 * waited too long.
 */
export type Begin = "turn" | "gone" | "late";

/** A client that waits for a response and may disconnect. */
export interface Leaving {
  readonly isGone: boolean;
}

/** A request that waits to start. */
interface Fresh {
  readonly begin: (how: Begin) => void;
  readonly peer: Leaving;
  readonly latestMs: number;
}

function toBegin({ peer, latestMs }: Fresh, nowMs: number): Begin {
  if (peer.isGone) return "gone";
  return latestMs <= nowMs ? "late" : "turn";
}

/** Maximum number of unwanted requests to drop at once, because each one takes time. */
const MAX_DROPPED = 100;

/**
 * The queued work of one client: requests that wait to start, and requests that have started and wait for a turn. Each
 * group is in order of arrival. If many started requests wait, most turns go to them. Some turns still go to new
 * requests, so that a few slow requests do not block new ones for long.
 */
export class OwnWork {
  readonly fresh = new Queue<Fresh>();
  readonly begun = new Queue<() => void>();
  /** Turns of started requests since the last new request started. */
  #sinceBegin = 0;

  get length(): number {
    return this.fresh.length + this.begun.length;
  }

  /** Grants the next turn. Returns false if no request is waiting. */
  give(nowMs: number): boolean {
    const after = this.begun.length < MANY_STARTED ? BEGINS_AFTER : BEGINS_RARELY_AFTER;
    const begins = this.fresh.length > 0 && (this.begun.length === 0 || this.#sinceBegin >= after);
    this.#sinceBegin = begins ? 0 : this.#sinceBegin + 1;
    if (begins) {
      const fresh = this.fresh.take();
      fresh?.begin(toBegin(fresh, nowMs));
      return fresh !== undefined;
    }
    const goOn = this.begun.take();
    goOn?.();
    return goOn !== undefined;
  }

  /**
   * Drops requests at the front of the queue that are late at `nowMs` or whose client has disconnected. Returns their
   * number.
   */
  dropUnwanted(nowMs: number): number {
    for (let dropped = 0; dropped < MAX_DROPPED; dropped++) {
      const first = this.fresh.first();
      const begin = first === undefined ? "turn" : toBegin(first, nowMs);
      if (begin === "turn") return dropped;
      this.fresh.take()?.begin(begin);
    }
    return MAX_DROPPED;
  }

  /** Drops all requests whose clients have disconnected. Returns how many. */
  dropGone(): number {
    const gone = this.fresh.removeWhere(({ peer }) => peer.isGone);
    for (const { begin } of gone) begin("gone");
    return gone.length;
  }
}
