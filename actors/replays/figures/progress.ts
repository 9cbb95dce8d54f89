import type { Money } from "../../money.js";

/** What the progress of a replay is reckoned from. */
export interface Progressing {
  readonly state: "queued" | "running" | "finished" | "stopped" | "over-budget";
  readonly startedAt: string | null;
  readonly settled: number;
  /** All copies. */
  readonly of: number;
  /** What counts against the ceiling. */
  readonly spent: Money;
  readonly ceiling: Money;
  /** What it waits for; null when it does not. */
  readonly waiting: string | null;
}

/** How far a replay has come (`progress`). */
export interface Progress extends Pick<Progressing, "settled" | "of" | "spent" | "ceiling" | "waiting"> {
  /** Null unless it is running, has a settled copy and waits for nothing. */
  readonly expectedEnd: string | null;
}

/**
 * The progress at a time. The expected end supposes that copies go on settling as fast as they did on average since the
 * replay started: so many milliseconds for each settled copy, as many for each that is left. It does not suppose that the
 * ceiling ends the replay first, and does not count judging that is left when all copies settled.
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
