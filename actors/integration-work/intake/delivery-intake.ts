import type { RedeliveryPeriod } from "../deliveries/delivery.messages.js";

/** The state of an integration's intake between two turns. */
export interface IntakeContext {
  /** Number of unfinished deliveries. */
  readonly backlog: number;
  /** Total size of their bodies, in bytes. */
  readonly backlogBytes: number;
  /** Number of finished deliveries in the store. */
  readonly ended: number;
  /** Total size of all stored bodies, in bytes. */
  readonly bytes: number;
  /** No delivery up to this id has a body any longer; null for none. */
  readonly bodiesAfter: string | null;
  /** The deliveries with a slot, in order of arrival. */
  readonly working: readonly WorkingDelivery[];
  /** Number of deliveries that wait for a slot. */
  readonly queued: number;
  /** The first queued deliveries, in order: some or all. Rows hold the ids after them. */
  readonly upcoming: readonly string[];
  /** Whether the deliveries with a slot are watched. */
  readonly watches: boolean;
  /** When the next sweep for old deliveries runs, in milliseconds since 1970; null while nothing is stored. */
  readonly sweepAtMs: number | null;
  /** The periods to redeliver, the current one first. */
  readonly periods: readonly RedeliveryPeriod[];
  /** The recent arrival counts; absent before the first arrival. */
  readonly arrivals?: Arrivals;
  /** Until when no delivery gets a slot during a flood, in milliseconds since 1970; absent if there is no such time. */
  readonly pacedUntilMs?: number;
  /** Whether a wake-up is set that gives slots. */
  readonly willGivePlaces?: boolean;
  /**
   * The current key period if no earlier period has stored keys; null or absent if one may. See
   * `delivery-key.table.ts`.
   */
  readonly keysFrom?: number | null;
}

/** The fields are absent in contexts of earlier releases. */
interface Arrivals {
  readonly rush?: Arriving;
  readonly flood?: Arriving;
}

/**
 * The deliveries that arrived within a time window, and until when the burst lasts. Times are in milliseconds since
 * 1970.
 */
interface Arriving {
  readonly fromMs: number;
  readonly count: number;
  readonly untilMs: number;
}

/** The definition of a burst: at least `count` deliveries within `withinMs`. The burst then lasts for `lastsMs`. */
interface Many {
  readonly count: number;
  readonly withinMs: number;
  readonly lastsMs: number;
}

/** A delivery with a slot. At most one delivery of an integration is raising. */
export interface WorkingDelivery {
  readonly id: string;
  readonly state: "evaluating" | "ready" | "raising";
}

export const emptyIntake: IntakeContext = {
  backlog: 0,
  backlogBytes: 0,
  ended: 0,
  bytes: 0,
  bodiesAfter: null,
  working: [],
  queued: 0,
  upcoming: [],
  watches: false,
  sweepAtMs: null,
  periods: [],
};

/** Maximum number of an integration's deliveries that are processed concurrently. */
const PLACES = 8;
/** The same limit in a rush: senders wait for a response, and nobody waits for the processing. */
const PLACES_IN_A_RUSH = 1;
const RUSH: Many = { count: 16, withinMs: 250, lastsMs: 100 };
/** A flood is 2,000 deliveries per second. Processing then achieves little and delays the responses to senders. */
const FLOOD: Many = { count: 200, withinMs: 100, lastsMs: 150 };
/** Minimum time between two deliveries that get a slot in a flood, in milliseconds. */
const PACE_MS = 25;
/**
 * With this many queued deliveries the rush limit no longer applies, because a continuous stream would fill the queue.
 * Below it senders have priority; one slot still processes some hundreds of deliveries per second.
 */
export const MAX_QUEUED_IN_A_RUSH = 8_000;
/**
 * Maximum number of unfinished deliveries of an integration. The intake accepts no more at this number, or when their
 * bodies reach {@link MAX_STORED_BYTES}.
 */
export const MAX_BACKLOG = 10_000;
/** Maximum total size of the bodies stored for an integration, in bytes. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** Maximum number of finished deliveries stored for an integration. */
export const MAX_ENDED = 10_000;
/** How long a delivery is stored, in milliseconds. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** Returns whether the intake accepts no more deliveries for now. `taken` are the deliveries just accepted. */
export function isCrowded(
  { backlog, backlogBytes }: IntakeContext,
  taken: { readonly count: number; readonly bytes: number } = { count: 0, bytes: 0 },
): boolean {
  return backlog + taken.count >= MAX_BACKLOG || backlogBytes + taken.bytes >= MAX_STORED_BYTES;
}

/** Counts deliveries that arrived at `nowMs`. */
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

/** Returns how many deliveries may have a slot at `nowMs`. */
export function placesAt({ arrivals, queued, pacedUntilMs }: IntakeContext, nowMs: number): number {
  if (queued >= MAX_QUEUED_IN_A_RUSH || !isBefore(arrivals?.rush?.untilMs, RUSH.lastsMs, nowMs)) return PLACES;
  return isFlood(arrivals, nowMs) && isBefore(pacedUntilMs, PACE_MS, nowMs) ? 0 : PLACES_IN_A_RUSH;
}

/** Records that a delivery got a slot at `nowMs`. */
export function withPlaceGiven(context: IntakeContext, nowMs: number): IntakeContext {
  return isFlood(context.arrivals, nowMs) ? { ...context, pacedUntilMs: nowMs + PACE_MS } : context;
}

/** Returns the latest time at which slots withheld by a flood at `nowMs` are given. */
export function placesGivenAtMs(nowMs: number): number {
  return nowMs + PACE_MS + FLOOD.lastsMs;
}

function isFlood(arrivals: Arrivals | undefined, nowMs: number): boolean {
  return isBefore(arrivals?.flood?.untilMs, FLOOD.lastsMs, nowMs);
}

/**
 * Returns whether `nowMs` is before `untilMs`. A time more than `lastsMs` ahead counts as past: the clock was set back.
 */
function isBefore(untilMs: number | undefined, lastsMs: number, nowMs: number): boolean {
  return untilMs !== undefined && nowMs < untilMs && untilMs - nowMs <= lastsMs;
}
