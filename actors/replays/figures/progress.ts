import type { Money } from "../../money.js";

/** The data for computing a replay's progress. */
export interface Progressing {
  readonly state: "queued" | "running" | "finished" | "stopped" | "over-budget";
  readonly startedAt: string | null;
  readonly settled: number;
  /** The number of copies. */
  readonly of: number;
  /** The amount that counts against the ceiling. */
  readonly spent: Money;
  readonly ceiling: Money;
  /** The reason why the replay waits; null when it does not wait. */
  readonly waiting: string | null;
}

/** The progress of a replay (`progress`). */
export interface Progress extends Pick<Progressing, "settled" | "of" | "spent" | "ceiling" | "waiting"> {
  /** Null unless the replay is running, has a settled copy and does not wait. */
  readonly expectedEnd: string | null;
}

/**
 * Computes the progress at a time. The expected end assumes that copies continue to settle at the average rate since
 * the replay started: the elapsed milliseconds per settled copy, times the copies that remain. The expected end ignores
 * the ceiling, which may end the replay first. It also ignores judging that remains after all copies have settled.
 */
export function progressAt(nowMs: number, replay: Progressing): Progress {
  const { settled, of, spent, ceiling, waiting } = replay;
  return { settled, of, spent, ceiling, expectedEnd: expectedEndAt(nowMs, replay), waiting };
}

function expectedEndAt(nowMs: number, { state, startedAt, settled, of, waiting }: Progressing): string | null {
  if (state !== "running" || startedAt === null || settled === 0 || waiting !== null) return null;
  const perCopyMs = Math.max(0, nowMs - Date.parse(startedAt)) / settled;
  return new Date(Math.round(nowMs + perCopyMs * (of - settled))).toISOString();
}
