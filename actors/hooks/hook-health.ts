import { z } from "zod";
import type { HookOccurrenceState } from "./hook-occurrence.js";

const count = (what: string) => z.int().min(0).describe(`Number of firings ${what}.`);

/** A hook's health: its firings of the last 24 hours by result, and its current retries. */
export const hookHealthSchema = z
  .strictObject({
    delivered: count("that were delivered in the last 24 hours"),
    refused: count("that refused their event in the last 24 hours"),
    failed: count("that failed in the last 24 hours"),
    waiting: count("that wait for a retry now"),
    nextRetryAt: z.string().nullable().describe("When the service retries the next of them; null if none waits."),
  })
  .nullable()
  .describe(
    "The hook's firings, tests and resends included. They are counted by the hour in which they ended (UTC): the " +
      "current hour and the 24 hours before it. Null if the caller cannot read the hook's firings, or if the counts " +
      "are damaged. A write ignores it.",
  );

export type HookHealth = NonNullable<z.output<typeof hookHealthSchema>>;

/** How a firing can end. */
export type EndState = Exclude<HookOccurrenceState, "attempting" | "waiting">;

/** The firings of a hook that ended in one hour. */
export interface EndedInHour extends Readonly<Record<EndState, number>> {
  /** Hours since 1970. */
  readonly hour: number;
}

/** The stored counts of a hook. */
export interface HookCounts {
  /** Number of firings that wait for a retry. */
  readonly waiting: number;
  /** The hours in which firings ended, oldest first: at most {@link HOURS}. */
  readonly hours: readonly EndedInHour[];
}

/** Number of hours in the counts: the current hour and the 24 hours before it. */
const HOURS = 25;
const HOUR_MS = 60 * 60 * 1_000;

/** The counts of a hook that has not fired. */
export const noCounts: HookCounts = { waiting: 0, hours: [] };

/**
 * Counts a firing that ended at `atMs`. If the clock was set back, the firing counts in the latest known hour. Drops
 * hours that are more than one hour in the future, because they come from a wrong clock.
 */
export function withEnded({ waiting, hours }: HookCounts, state: EndState, atMs: number): HookCounts {
  const now = toHour(atMs);
  const known = hours.filter(({ hour }) => hour <= now + 1);
  const hour = Math.max(now, known.at(-1)?.hour ?? now);
  const same = known.find((each) => each.hour === hour) ?? { hour, delivered: 0, refused: 0, failed: 0 };
  const earlier = known.filter((each) => each.hour < hour && each.hour > hour - HOURS);
  return { waiting, hours: [...earlier, { ...same, [state]: same[state] + 1 }] };
}

/** Counts a firing that starts to wait (`1`) or stops waiting (`-1`). */
export function withWaiting(counts: HookCounts, change: 1 | -1): HookCounts {
  return { ...counts, waiting: Math.max(0, counts.waiting + change) };
}

/** Returns the numbers of firings that ended in the last 24 hours, by result. */
export function sumEnded({ hours }: HookCounts, nowMs: number): Readonly<Record<EndState, number>> {
  const now = toHour(nowMs);
  const sum = { delivered: 0, refused: 0, failed: 0 };
  for (const { hour, delivered, refused, failed } of hours) {
    if (hour <= now - HOURS || hour > now + 1) continue;
    sum.delivered += delivered;
    sum.refused += refused;
    sum.failed += failed;
  }
  return sum;
}

function toHour(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}
