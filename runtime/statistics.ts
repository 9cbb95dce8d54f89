import type { Cells } from "./cells/cells.js";
import type { Supervisor } from "./cells/supervisor.js";
import type { Effects } from "./effects/effects.js";
import type { ChangeFeed } from "./feeds/feed.js";
import type { DamageLog } from "./rows/damage-log.js";
import type { RuntimeStats } from "./runtime.js";
import type { Timers } from "./schedule/timers.js";
import type { Turns } from "./turns/turns.js";

/** Maximum number of flush times to store between two reads. */
const MAX_FLUSH_TIMES = 1_000;

export interface StatisticsParts {
  readonly turns: Turns;
  readonly supervisor: Supervisor;
  readonly cells: Cells;
  readonly effects: Effects;
  readonly timers: Timers;
  readonly damage: DamageLog;
  readonly feed: ChangeFeed;
}

/**
 * The runtime's figures since its start. Counts flushes and counters itself, and reads the other figures from the parts
 * that count them.
 */
export class Statistics {
  readonly #parts: StatisticsParts;
  #batches = 0;
  #flushSeconds: number[] = [];
  readonly #counters = new Map<string, number>();

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  /** Counts a batch. `tookMs` is the duration of its flush. */
  flushed(tookMs: number): void {
    this.#batches += 1;
    if (this.#flushSeconds.length < MAX_FLUSH_TIMES) this.#flushSeconds.push(tookMs / 1_000);
  }

  /** Increments one counter per name. */
  counted(names: readonly string[]): void {
    for (const name of names) this.#counters.set(name, (this.#counters.get(name) ?? 0) + 1);
  }

  /** Returns the current figures. Each flush time is returned only once. */
  read(): RuntimeStats {
    const { turns, supervisor, cells, effects, timers, damage, feed } = this.#parts;
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
      feedBytes: feed.bytes,
      counters: new Map(this.#counters),
      flushSeconds,
    };
  }
}
