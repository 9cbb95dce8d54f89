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
  /** The first of them, in order: some, or all. */
  readonly upcoming: readonly string[];
  /** Whether those that have a place are watched. */
  readonly watches: boolean;
  /** When old ones are looked for next, in milliseconds since 1970; null while nothing is stored. */
  readonly sweepAtMs: number | null;
  /** Periods that are redelivered, the current one first. */
  readonly periods: readonly RedeliveryPeriod[];
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
export const PLACES = 8;
/** Deliveries of an integration that are not over, and the bytes of their bodies, from which on no more are taken. */
export const MAX_BACKLOG = 10_000;
/** Bytes of bodies that are stored for an integration. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** Deliveries that are over and stored for an integration. */
export const MAX_ENDED = 10_000;
/** How long a delivery is stored, in milliseconds. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** Whether no more deliveries are taken for now. */
export function isCrowded({ backlog, backlogBytes }: IntakeContext): boolean {
  return backlog >= MAX_BACKLOG || backlogBytes >= MAX_STORED_BYTES;
}
