import type { Change } from "../../storage/store.js";
import { TurnoverMap } from "../schedule/turnover-map.js";
import { type PendingEffect, startedKey } from "./pending-effect.js";

/** A run that has its place and waits until its mark is flushed. Exactly one of the two methods is called. */
interface WaitingBegin {
  /** Called when the mark is on disk. */
  begin(): void;
  /** Called when the effect is cancelled. Releases the place. */
  drop(): void;
}

/**
 * Writes marks for effects that may have begun. Without marks, the store of a killed process would not show which
 * effects had begun and which only waited for a place.
 *
 * 1. A run begins after its effect's mark is on disk. Each effect is marked once.
 * 2. The mark is removed together with the effect's row. After a stop, effects that did not begin have no mark.
 */
export class BeginMarks {
  readonly #waiting = new TurnoverMap<PendingEffect, WaitingBegin>();
  readonly #write: ((pending: PendingEffect) => void) | undefined;

  /**
   * `write` puts the mark into the open batch and ensures that {@link flushed} is called after its flush. Without
   * `write`, no effect is marked.
   */
  constructor(write: ((pending: PendingEffect) => void) | undefined) {
    this.#write = write;
  }

  /** Marks the effect. If the effect is already marked, or this process writes no marks, its run begins immediately. */
  mark(pending: PendingEffect, waiting: WaitingBegin): void {
    if (pending.isMarked || this.#write === undefined) {
      waiting.begin();
      return;
    }
    pending.isMarked = true;
    this.#waiting.set(pending, waiting);
    this.#write(pending);
  }

  /** Call this when the mark is on disk. */
  flushed(pending: PendingEffect): void {
    if (pending.cancelled) this.cancel(pending);
    else this.#take(pending)?.begin();
  }

  /** Call this when the effect is cancelled. The cancellation itself removes the effect's mark. */
  cancel(pending: PendingEffect): void {
    this.#take(pending)?.drop();
  }

  /** Returns the changes that remove the marks of all waiting runs, for the last batch of a stopping process. */
  removals(): Change[] {
    return [...this.#waiting.keys()].map(({ owner, id }) => ({ op: "remove", key: startedKey(owner, id) }));
  }

  #take(pending: PendingEffect): WaitingBegin | undefined {
    const waiting = this.#waiting.get(pending);
    this.#waiting.delete(pending);
    return waiting;
  }
}
