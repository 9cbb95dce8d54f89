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
  /** The period of keys before which none are stored; null or absent where some may be. See `delivery-key.table.ts`. */
  readonly keysFrom?: number | null;
}

/** The deliveries that came within {@link RUSH_MS}, and until when there is a rush; times in milliseconds since 1970. */
interface Arrivals {
  readonly fromMs: number;
  readonly count: number;
  readonly rushUntilMs: number;
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
/** So many deliveries within so many milliseconds are a rush, and so long it lasts. */
const RUSH_COUNT = 16;
const RUSH_MS = 250;
const RUSH_LASTS_MS = 100;
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
  const { fromMs, count, rushUntilMs } = context.arrivals ?? { fromMs: nowMs, count: 0, rushUntilMs: 0 };
  const begun = nowMs - fromMs < RUSH_MS ? { fromMs, count: count + arrived } : { fromMs: nowMs, count: arrived };
  const arrivals =
    begun.count < RUSH_COUNT
      ? { ...begun, rushUntilMs }
      : { fromMs: nowMs, count: 0, rushUntilMs: nowMs + RUSH_LASTS_MS };
  return { ...context, arrivals };
}

/** How many deliveries may be worked at once at `nowMs`. */
export function placesAt({ arrivals, queued }: IntakeContext, nowMs: number): number {
  const isRush = arrivals !== undefined && nowMs < arrivals.rushUntilMs && queued < MAX_QUEUED_IN_A_RUSH;
  return isRush ? PLACES_IN_A_RUSH : PLACES;
}
