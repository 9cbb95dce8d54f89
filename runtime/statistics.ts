import type { Cells } from "./cells.js";
import type { Effects } from "./effects.js";
import type { RuntimeStats } from "./runtime.js";
import type { Supervisor } from "./supervisor.js";
import type { Timers } from "./timers.js";
import type { Turns } from "./turns.js";

/** Flush times kept for the metrics. */
const FLUSH_TIMES_KEPT = 1_000;

/** What figures are read from. */
export interface StatisticsParts {
  readonly turns: Turns;
  readonly supervisor: Supervisor;
  readonly cells: Cells;
  readonly effects: Effects;
  readonly timers: Timers;
}

/** The runtime's figures, as of its start. Owns those of flushes; the others are their owners'. */
export class Statistics {
  readonly #parts: StatisticsParts;
  #batches = 0;
  #flushSeconds: number[] = [];
  readonly #counters = new Map<string, number>();

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  /** Counts a batch whose flush took so long, in milliseconds. */
  flushed(tookMs: number): void {
    this.#batches += 1;
    if (this.#flushSeconds.length < FLUSH_TIMES_KEPT) this.#flushSeconds.push(tookMs / 1_000);
  }

  /** Raises the figures that turns have counted, by one for each name. */
  counted(names: readonly string[]): void {
    for (const name of names) this.#counters.set(name, (this.#counters.get(name) ?? 0) + 1);
  }

  /** The figures now; flush times are given once. */
  read(): RuntimeStats {
    const { turns, supervisor, cells, effects, timers } = this.#parts;
    const flushSeconds = this.#flushSeconds;
    this.#flushSeconds = [];
    let mailboxDepth = 0;
    for (const cell of cells.all()) mailboxDepth += cell.mailbox.length;
    return {
      turns: turns.taken,
      batches: this.#batches,
      unhandled: turns.unhandled,
      crashes: supervisor.crashes,
      deadLetters: supervisor.deadLetters,
      cells: cells.size,
      mailboxDepth,
      pendingEffects: effects.pending,
      runningEffects: effects.running,
      timers: timers.inMemory,
      counters: new Map(this.#counters),
      flushSeconds,
    };
  }
}
