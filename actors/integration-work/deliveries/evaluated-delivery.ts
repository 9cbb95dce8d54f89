import type { RaisedFile, RaiseTask } from "../../tasks/team-marks.messages.js";
import type { EntryOutcome } from "./delivery.js";

/** A position in a delivery: the index of an event, and the index in its `forEach` (0 without `forEach`). */
export interface EntryPlace {
  readonly event: number;
  readonly item: number;
}

export const FIRST_PLACE: EntryPlace = { event: 0, item: 0 };

/**
 * Maximum number of `forEach` entries to evaluate per event, and maximum number of entries per delivery that produce a
 * result.
 */
export const MAX_ENTRIES = 1_000;
/** Cost limit of the expressions of one delivery, in units of `expressions/meter.ts`: about one second. */
export const MAX_DELIVERY_UNITS = 10_000_000;

/** What an evaluated entry raises. `attaches.values` has the values for the expressions of files, as JSON text. */
export interface EvaluatedRaise extends Pick<RaiseTask, "say" | "opens" | "branch" | "marks" | "channel"> {
  readonly attaches: {
    readonly values: string;
    readonly files: readonly RaisedFile[];
    /** Number of files that exceed the limit; absent in results of earlier releases. */
    readonly left?: number;
  } | null;
  /** Why the entry opens no task although its event has `opens`; null otherwise. */
  readonly unrouted: string | null;
  /** The parts of the raise that are left out, with the reasons, as text; null if nothing is left out. */
  readonly note: string | null;
}

/** An evaluated entry: it raises something, or failed. */
export type EvaluatedEntry = {
  readonly event: number;
  readonly item: number | null;
} & (
  | { readonly raise: EvaluatedRaise }
  | { readonly outcome: Extract<EntryOutcome, "failed">; readonly reason: string }
);

/** A lookup request that must complete before the service can evaluate the lookup's entry. */
export interface WantedLookup {
  readonly place: EntryPlace;
  /** The index of the entry; null for an event without `forEach`. */
  readonly item: number | null;
  /** The values for the lookup's expressions, except the body, as JSON text. */
  readonly values: string;
}

/** Some entries of a delivery, in order. */
export interface EvaluatedEntries {
  readonly kind: "entries";
  readonly entries: readonly EvaluatedEntry[];
  /** Number of entries that the `when` of their event did not accept. */
  readonly skipped: number;
  /** The first `when` or `forEach` whose evaluation failed, with the reason; null or absent if no evaluation failed. */
  readonly unread?: string | null;
  /** Where evaluation continues; null if nothing is left. */
  readonly next: EntryPlace | null;
  /** The lookup that must complete before `next` is evaluated; null if none is needed. */
  readonly lookup: WantedLookup | null;
  /** The remaining units of {@link MAX_DELIVERY_UNITS}. */
  readonly units: number;
}

/** The end of a delivery that produces no further entries. */
export interface EvaluatedAway {
  readonly kind: "over";
  readonly state: "ignored" | "unrouted" | "failed";
  readonly reason: string | null;
}

export type Evaluated = EvaluatedEntries | EvaluatedAway;
