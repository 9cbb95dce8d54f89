import type { PlaceNeeded, PreparedRun } from "../cells/actor-type.js";
import type { Clock } from "../clock.js";
import { TurnoverMap } from "../schedule/turnover-map.js";
import type { Lane, PlaceFor, PlaceWaiter } from "./lane.js";
import type { PendingEffect } from "./pending-effect.js";

/**
 * Maximum size of the prepared runs that wait in memory, in bytes, for all partitions together. Prepared runs beyond
 * this limit are dropped and prepared again later.
 */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Maximum age of a prepared run, in milliseconds. Older runs are prepared again, because they may contain a time. */
const PREPARED_LASTS_MS = 30_000;

/** An effect that has or waits for a place in a lane. */
export class RunPlace implements PlaceFor {
  readonly client: string;
  readonly target: string;

  constructor(
    readonly pending: PendingEffect,
    readonly lane: Lane,
    { target, client = pending.owner.partition }: Pick<PlaceNeeded, "target" | "client">,
  ) {
    this.target = target;
    this.client = client;
  }

  /** Whether this place fits the need of a run: the same lane, target and client. */
  isFor({ lane, target, client = this.pending.owner.partition }: PlaceNeeded): boolean {
    return this.lane.limits === lane && this.target === target && this.client === client;
  }
}

/** Callbacks for the end of a wait. */
interface Outcome {
  /** Called when the effect gets a place. `run` is null if the run must be prepared again. */
  granted(run: PreparedRun | null): void;
  /** Called when the effect has waited too long for a place. `output` is then its result. */
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
 * The effects that wait for a place.
 *
 * 1. Each wait ends once: the effect gets a place, its time limit passes, or it no longer needs a place.
 * 2. The prepared runs of waiting effects take at most {@link MAX_CACHED_BYTES} in memory.
 */
export class WaitingRuns {
  readonly #clock: Clock;
  readonly #entries = new TurnoverMap<PendingEffect, Entry>();
  #cachedBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(pending: PendingEffect): RunPlace | null {
    return this.#entries.get(pending)?.waiting ?? null;
  }

  add(waiting: RunPlace, run: PreparedRun, { granted, givenUp }: Outcome): void {
    const { pending, lane, client, target } = waiting;
    const preparedMs = this.#clock.now();
    const bytes = run.place?.bytes ?? 0;
    const patience = run.place?.patience;
    const cancelTimers =
      patience === undefined
        ? () => undefined
        : this.#clock.at(patience.untilMs, () => {
            this.endWait(pending);
            givenUp(patience.output);
          });
    const waiter: PlaceWaiter = {
      client,
      target,
      isWaiting: false,
      granted: () => {
        const cachedRun = this.#entries.get(pending)?.run ?? null;
        this.#remove(pending);
        granted(this.#clock.now() - preparedMs <= PREPARED_LASTS_MS ? cachedRun : null);
      },
    };
    const isCached = this.#cachedBytes + bytes <= MAX_CACHED_BYTES;
    const entry: Entry = { waiting, waiter, run: isCached ? run : null, bytes: isCached ? bytes : 0, cancelTimers };
    this.#cachedBytes += entry.bytes;
    this.#entries.set(pending, entry);
    lane.wait(waiter);
  }

  /** Ends the wait of an effect that no longer needs a place. */
  endWait(pending: PendingEffect): void {
    const entry = this.#entries.get(pending);
    if (entry === undefined) return;
    entry.waiting.lane.cancel(entry.waiter);
    this.#remove(pending);
  }

  /** Ends all waits. */
  stop(): void {
    for (const pending of [...this.#entries.keys()]) this.endWait(pending);
  }

  #remove(pending: PendingEffect): void {
    const entry = this.#entries.get(pending);
    if (entry === undefined) return;
    entry.cancelTimers();
    this.#cachedBytes -= entry.bytes;
    this.#entries.delete(pending);
  }
}
