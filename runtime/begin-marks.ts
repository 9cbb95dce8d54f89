import type { Change } from "../storage/store.js";
import { begunKey, type PendingEffect } from "./pending-effect.js";
import { TurnoverMap } from "./turnover-map.js";

/** A run that has its place and waits for the flush of its mark. Exactly one of the two is called. */
interface WaitingBegin {
  /** The mark is on disk. */
  begin(): void;
  /** The effect was cancelled: gives the place back. */
  drop(): void;
}

/**
 * Marks of the effects that may have begun. Without them, a process that was killed would leave nothing that tells what it
 * had begun from what only waited for its place.
 *
 * 1. A run begins after the mark of its effect is on disk, and each effect is marked once.
 * 2. A mark is removed with the row of its effect. After a stop, an effect that did not begin has none.
 */
export class BeginMarks {
  readonly #waiting = new TurnoverMap<PendingEffect, WaitingBegin>();
  readonly #write: ((pending: PendingEffect) => void) | undefined;

  /**
   * `write` puts the mark into the open batch, and has {@link flushed} called after its flush. Without it, nothing is
   * marked.
   */
  constructor(write: ((pending: PendingEffect) => void) | undefined) {
    this.#write = write;
  }

  /** Marks the effect; what has a mark begins at once. */
  mark(pending: PendingEffect, waiting: WaitingBegin): void {
    if (pending.isMarked || this.#write === undefined) {
      waiting.begin();
      return;
    }
    pending.isMarked = true;
    this.#waiting.set(pending, waiting);
    this.#write(pending);
  }

  /** The mark is on disk. */
  flushed(pending: PendingEffect): void {
    if (pending.cancelled) this.cancel(pending);
    else this.#take(pending)?.begin();
  }

  /** The effect was cancelled, which removed its mark. */
  cancel(pending: PendingEffect): void {
    this.#take(pending)?.drop();
  }

  /** Removes the marks of all that wait: for the last batch of a process that stops. */
  removals(): Change[] {
    return [...this.#waiting.keys()].map(({ owner, id }) => ({ op: "remove", key: begunKey(owner, id) }));
  }

  #take(pending: PendingEffect): WaitingBegin | undefined {
    const waiting = this.#waiting.get(pending);
    this.#waiting.delete(pending);
    return waiting;
  }
}
