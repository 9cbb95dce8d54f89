import type { RedeliveryPeriod } from "./delivery.messages.js";

/** What the intake of an integration's deliveries knows between two turns. */
export interface IntakeContext {
  /** Deliveries that are not over. */
  readonly backlog: number;
  /** The bytes of their bodies. */
  readonly backlogBytes: number;
  /** Deliveries that are over and stored. */
  readonly ended: number;
  /** The bytes of all bodies that are stored. */
  readonly bytes: number;
  /** The deliveries up to this one have no body any more; null for none. */
  readonly bodiesAfter: string | null;
  /** Those that have a place, in order of arrival. */
  readonly working: readonly WorkingDelivery[];
  /** How many wait for a place. */
  readonly queued: number;
  /** The first of them, in order: some, or all. Those after them are in rows. */
  readonly upcoming: readonly string[];
  /** Whether those that have a place are watched. */
  readonly watches: boolean;
  /** When old ones are looked for next, in milliseconds since 1970; null while nothing is stored. */
  readonly sweepAtMs: number | null;
  /** Periods that are redelivered, the current one first. */
  readonly periods: readonly RedeliveryPeriod[];
  /** How many came of late; absent before the first. */
  readonly arrivals?: Arrivals;
  /** Until when no delivery gets a place while there is a flood, in milliseconds since 1970; absent for no time. */
  readonly pacedUntilMs?: number;
  /** Whether a wake-up is set that gives places. */
  readonly willGivePlaces?: boolean;
  /** The period of keys before which none are stored; null or absent where some may be. See `delivery-key.table.ts`. */
  readonly keysFrom?: number | null;
}

/** Absent in what an earlier release stored. */
interface Arrivals {
  readonly rush?: Arriving;
  readonly flood?: Arriving;
}

/** The deliveries that came within a time, and until when they count as many; times in milliseconds since 1970. */
interface Arriving {
  readonly fromMs: number;
  readonly count: number;
  readonly untilMs: number;
}

/** So many deliveries within so many milliseconds are many, for so long. */
interface Many {
  readonly count: number;
  readonly withinMs: number;
  readonly lastsMs: number;
}

/** A delivery that has a place. Of all of an integration at most one is raising. */
export interface WorkingDelivery {
  readonly id: string;
  readonly state: "evaluating" | "ready" | "raising";
}

export const emptyIntake: IntakeContext = {
  ...{ backlog: 0, backlogBytes: 0, ended: 0, bytes: 0, bodiesAfter: null },
  ...{ working: [], queued: 0, upcoming: [], watches: false, sweepAtMs: null, periods: [] },
};

/** Deliveries of an integration that are worked at once. */
const PLACES = 8;
/** The same in a rush: senders wait for an answer, and nobody waits for the work. */
const PLACES_IN_A_RUSH = 1;
const RUSH: Many = { count: 16, withinMs: 250, lastsMs: 100 };
/** Beside 2,000 a second whatever a place works is little, and takes time from senders. */
const FLOOD: Many = { count: 200, withinMs: 100, lastsMs: 150 };
/** In a flood a delivery gets a place so long after the one before, in milliseconds. */
const PACE_MS = 25;
/**
 * With so many in the queue a rush is none: a stream without end would fill it. Until then senders come first: a place
 * works some hundreds a second meanwhile.
 */
export const MAX_QUEUED_IN_A_RUSH = 8_000;
/** Deliveries of an integration that are not over, and the bytes of their bodies, from which on no more are taken. */
export const MAX_BACKLOG = 10_000;
/** Bytes of bodies that are stored for an integration. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** Deliveries that are over and stored for an integration. */
export const MAX_ENDED = 10_000;
/** How long a delivery is stored, in milliseconds. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** Whether no more deliveries are taken for now, after those that were just taken. */
export function isCrowded(
  { backlog, backlogBytes }: IntakeContext,
  taken: { readonly count: number; readonly bytes: number } = { count: 0, bytes: 0 },
): boolean {
  return backlog + taken.count >= MAX_BACKLOG || backlogBytes + taken.bytes >= MAX_STORED_BYTES;
}

/** Counts deliveries that came at `nowMs`. */
export function withArrivals(context: IntakeContext, arrived: number, nowMs: number): IntakeContext {
  const { rush, flood } = context.arrivals ?? {};
  const arrivals = {
    rush: withArrived(rush, RUSH, arrived, nowMs),
    flood: withArrived(flood, FLOOD, arrived, nowMs),
  };
  return { ...context, arrivals };
}

function withArrived(before: Arriving | undefined, many: Many, arrived: number, nowMs: number): Arriving {
  const { fromMs, count, untilMs } = before ?? { fromMs: nowMs, count: 0, untilMs: 0 };
  const isBegun = nowMs >= fromMs && nowMs - fromMs < many.withinMs;
  const counted = isBegun ? count + arrived : arrived;
  if (counted >= many.count) return { fromMs: nowMs, count: 0, untilMs: nowMs + many.lastsMs };
  return { fromMs: isBegun ? fromMs : nowMs, count: counted, untilMs };
}

/** How many deliveries may be worked at once at `nowMs`. */
export function placesAt({ arrivals, queued, pacedUntilMs }: IntakeContext, nowMs: number): number {
  if (queued >= MAX_QUEUED_IN_A_RUSH || !isBefore(arrivals?.rush?.untilMs, RUSH.lastsMs, nowMs)) return PLACES;
  return isFlood(arrivals, nowMs) && isBefore(pacedUntilMs, PACE_MS, nowMs) ? 0 : PLACES_IN_A_RUSH;
}

/** Counts a delivery that got a place at `nowMs`. */
export function withPlaceGiven(context: IntakeContext, nowMs: number): IntakeContext {
  return isFlood(context.arrivals, nowMs) ? { ...context, pacedUntilMs: nowMs + PACE_MS } : context;
}

/** When places are given at the latest that a flood keeps at `nowMs`. */
export function placesGivenAtMs(nowMs: number): number {
  return nowMs + PACE_MS + FLOOD.lastsMs;
}

function isFlood(arrivals: Arrivals | undefined, nowMs: number): boolean {
  return isBefore(arrivals?.flood?.untilMs, FLOOD.lastsMs, nowMs);
}

/** Whether `nowMs` is before a time that was at most `lastsMs` ahead: one further ahead is of a clock that was put right. */
function isBefore(untilMs: number | undefined, lastsMs: number, nowMs: number): boolean {
  return untilMs !== undefined && nowMs < untilMs && untilMs - nowMs <= lastsMs;
}
