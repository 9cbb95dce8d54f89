import type { PlaceNeeded, PreparedRun } from "./actor-type.js";
import type { Clock } from "./clock.js";
import type { Lane, PlaceFor, PlaceWaiter } from "./lane.js";
import type { PendingEffect } from "./pending-effect.js";
import { TurnoverMap } from "./turnover-map.js";

/** Bytes of prepared runs that wait and are held in memory, over all partitions; further ones are prepared again. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** What was prepared longer ago than this, in milliseconds, is prepared again: it may carry a time. */
const PREPARED_LASTS_MS = 30_000;

/** An effect that has a place in a lane, or waits for one. */
export class RunPlace implements PlaceFor {
  readonly party: string;
  readonly target: string;

  constructor(
    readonly pending: PendingEffect,
    readonly lane: Lane,
    { target, party = pending.owner.partition }: Pick<PlaceNeeded, "target" | "party">,
  ) {
    this.target = target;
    this.party = party;
  }

  /** Whether it is the place that is needed now. */
  isFor({ lane, target, party = this.pending.owner.partition }: PlaceNeeded): boolean {
    return this.lane.limits === lane && this.target === target && this.party === party;
  }
}

/** What becomes of a run that waits. */
interface Outcome {
  /** It has a place now; the run is null when it has to be prepared again. */
  granted(run: PreparedRun | null): void;
  /** It waited as long as it may. */
  givenUp(output: unknown): void;
}

interface Entry {
  readonly waiting: RunPlace;
  readonly waiter: PlaceWaiter;
  run: PreparedRun | null;
  readonly bytes: number;
  readonly cancelTimers: () => void;
}

/**
 * Effects that wait for a place.
 *
 * 1. Each ends its wait once: granted, given up or left.
 * 2. What was prepared for them takes at most {@link MAX_HELD_BYTES}.
 */
export class WaitingRuns {
  readonly #clock: Clock;
  readonly #entries = new TurnoverMap<PendingEffect, Entry>();
  #heldBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(pending: PendingEffect): RunPlace | null {
    return this.#entries.get(pending)?.waiting ?? null;
  }

  add(waiting: RunPlace, run: PreparedRun, { granted, givenUp }: Outcome): void {
    const { pending, lane, party, target } = waiting;
    const preparedMs = this.#clock.now();
    const bytes = run.place?.bytes ?? 0;
    const patience = run.place?.patience;
    const cancelTimers =
      patience === undefined
        ? () => undefined
        : this.#clock.at(patience.untilMs, () => {
            this.leave(pending);
            givenUp(patience.output);
          });
    const waiter: PlaceWaiter = {
      ...{ party, target, isWaiting: false },
      granted: () => {
        const kept = this.#entries.get(pending)?.run ?? null;
        this.#remove(pending);
        granted(this.#clock.now() - preparedMs <= PREPARED_LASTS_MS ? kept : null);
      },
    };
    const isHeld = this.#heldBytes + bytes <= MAX_HELD_BYTES;
    const entry: Entry = { waiting, waiter, run: isHeld ? run : null, bytes: isHeld ? bytes : 0, cancelTimers };
    this.#heldBytes += entry.bytes;
    this.#entries.set(pending, entry);
    lane.wait(waiter);
  }

  /** Ends the wait of an effect that needs no place any more. */
  leave(pending: PendingEffect): void {
    const entry = this.#entries.get(pending);
    if (entry === undefined) return;
    entry.waiting.lane.cancel(entry.waiter);
    this.#remove(pending);
  }

  /** Ends all waits. */
  stop(): void {
    for (const pending of [...this.#entries.keys()]) this.leave(pending);
  }

  #remove(pending: PendingEffect): void {
    const entry = this.#entries.get(pending);
    if (entry === undefined) return;
    entry.cancelTimers();
    this.#heldBytes -= entry.bytes;
    this.#entries.delete(pending);
  }
}
