import type { Change } from "../../storage/store.js";
import { TurnoverMap } from "../schedule/turnover-map.js";
import { type PendingEffect, startedKey } from "./pending-effect.js";

/** A run that has its place and waits until its effect's mark is flushed. Exactly one of the two methods is called. */
interface WaitingBegin {
  /** Begins the run. Called when the effect's mark is on disk. */
  begin(): void;
  /** Releases the run's place. Called when the effect is cancelled. */
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
   * `write` puts an effect's mark into the open batch. {@link flushed} must then be called after that batch is flushed.
   * Without `write`, no effect is marked.
   */
  constructor(write: ((pending: PendingEffect) => void) | undefined) {
    this.#write = write;
  }

  /**
   * Marks the effect. Its run begins when the mark is flushed, or immediately if the effect is already marked or this
   * process writes no marks.
   */
  mark(pending: PendingEffect, waiting: WaitingBegin): void {
    if (pending.isMarked || this.#write === undefined) {
      waiting.begin();
      return;
    }
    pending.isMarked = true;
    this.#waiting.set(pending, waiting);
    this.#write(pending);
  }

  /** Begins the effect's waiting run. Call this when the effect's mark is on disk. */
  flushed(pending: PendingEffect): void {
    if (pending.cancelled) this.cancel(pending);
    else this.#take(pending)?.begin();
  }

  /**
   * Drops the effect's waiting run. Call this when the effect is cancelled. The batch that cancels the effect also
   * removes its mark.
   */
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
