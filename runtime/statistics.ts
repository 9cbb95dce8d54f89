import type { Cells } from "./cells.js";
import type { DamageLog } from "./damage-log.js";
import type { Effects } from "./effects.js";
import type { RuntimeStats } from "./runtime.js";
import type { Supervisor } from "./supervisor.js";
import type { Timers } from "./timers.js";
import type { Turns } from "./turns.js";

/** Most flush times kept between two reads. */
const FLUSH_TIMES_KEPT = 1_000;

export interface StatisticsParts {
  readonly turns: Turns;
  readonly supervisor: Supervisor;
  readonly cells: Cells;
  readonly effects: Effects;
  readonly timers: Timers;
  readonly damage: DamageLog;
}

/**
 * The runtime's figures since its start. Owns those of flushes and counters; reads the others where they are counted.
 */
export class Statistics {
  readonly #parts: StatisticsParts;
  #batches = 0;
  #flushSeconds: number[] = [];
  readonly #counters = new Map<string, number>();

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  /** Counts a batch; `tookMs` is the time of its flush. */
  flushed(tookMs: number): void {
    this.#batches += 1;
    if (this.#flushSeconds.length < FLUSH_TIMES_KEPT) this.#flushSeconds.push(tookMs / 1_000);
  }

  /** Increments a counter for each name. */
  counted(names: readonly string[]): void {
    for (const name of names) this.#counters.set(name, (this.#counters.get(name) ?? 0) + 1);
  }

  /** The current figures; each flush time is returned once. */
  read(): RuntimeStats {
    const { turns, supervisor, cells, effects, timers, damage } = this.#parts;
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
      damagedRows: damage.rows,
      damagedTurns: supervisor.damagedTurns,
      cells: cells.size,
      mailboxDepth,
      pendingEffects: effects.pending,
      runningEffects: effects.running,
      lanes: effects.lanes.map(({ limits: { name }, taken, waiting }) => ({ name, taken, waiting })),
      timers: timers.inMemory,
      counters: new Map(this.#counters),
      flushSeconds,
    };
  }
}
