import type { RedeliveryPeriod } from "../deliveries/delivery.messages.js";

/** The state of an integration's intake between two turns. */
export interface IntakeContext {
  /** Number of unfinished deliveries. */
  readonly backlog: number;
  /** Total size of the bodies of unfinished deliveries, in bytes. */
  readonly backlogBytes: number;
  /** Number of finished deliveries in the store. */
  readonly ended: number;
  /** Total size of all stored bodies, in bytes. */
  readonly bytes: number;
  /** Id of a delivery: the bodies of this and all earlier deliveries are dropped. Null if no body was dropped. */
  readonly bodiesAfter: string | null;
  /** The deliveries with a slot, in order of arrival. */
  readonly working: readonly WorkingDelivery[];
  /** Number of deliveries that wait for a slot. */
  readonly queued: number;
  /** The ids of the first queued deliveries, in order. Rows store the ids of the later queued deliveries. */
  readonly upcoming: readonly string[];
  /** Whether a wake-up to watch the deliveries with a slot is scheduled. */
  readonly watches: boolean;
  /** When the next sweep for old deliveries runs, in milliseconds since 1970; null while nothing is stored. */
  readonly sweepAtMs: number | null;
  /** The periods to redeliver, the current one first. */
  readonly periods: readonly RedeliveryPeriod[];
  /** Whether a burst has arrived and no slot was freed since; absent in contexts of earlier releases. */
  readonly isBurst?: boolean;
  /**
   * The current key period if no earlier period has stored keys; null or absent if an earlier period may have keys. See
   * `delivery-key.table.ts`.
   */
  readonly keysFrom?: number | null;
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

/**
 * Maximum number of an integration's deliveries that are processed concurrently. A message with at least this many
 * deliveries starts a burst.
 */
const PLACES = 8;
/**
 * Maximum number of unfinished deliveries of an integration. The intake also rejects deliveries while the bodies of
 * unfinished deliveries have {@link MAX_STORED_BYTES} or more in total.
 */
export const MAX_BACKLOG = 10_000;
/** Maximum total size of the bodies stored for an integration, in bytes. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** Maximum number of finished deliveries stored for an integration. */
export const MAX_ENDED = 10_000;
/** How long a finished delivery is stored after its arrival, in milliseconds. */
export const RETENTION_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * Returns the maximum number of deliveries with a slot. In a burst the maximum is 1, because senders wait for the
 * responses to their deliveries, but nobody waits for the processing.
 */
export function maxWorking({ isBurst = false }: IntakeContext): number {
  return isBurst ? 1 : PLACES;
}

/**
 * Marks a burst if one message brings at least {@link PLACES} deliveries. If the backlog is full, no burst starts, so
 * that all slots work on the backlog.
 */
export function withArrived(context: IntakeContext, count: number): IntakeContext {
  return count < PLACES || isCrowded(context) ? context : { ...context, isBurst: true };
}

/**
 * Returns whether the intake currently rejects new deliveries. `taken` counts accepted deliveries that `backlog` does
 * not include yet.
 */
export function isCrowded(
  { backlog, backlogBytes }: IntakeContext,
  taken: { readonly count: number; readonly bytes: number } = { count: 0, bytes: 0 },
): boolean {
  return backlog + taken.count >= MAX_BACKLOG || backlogBytes + taken.bytes >= MAX_STORED_BYTES;
}
