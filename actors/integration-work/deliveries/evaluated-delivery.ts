import type { RaisedFile, RaiseTask } from "../../tasks/team-marks.messages.js";
import type { EntryOutcome } from "./delivery.js";

/** A position in a delivery: the index of an event, and the index in its `forEach` (0 without `forEach`). */
export interface EntryPlace {
  readonly event: number;
  readonly item: number;
}

export const FIRST_PLACE: EntryPlace = { event: 0, item: 0 };

/** Maximum number of `forEach` entries to evaluate, and of entries of a delivery that produce a result. */
export const MAX_ENTRIES = 1_000;
/** Cost limit of the expressions of one delivery, in units of `expressions/meter.ts`: about one second. */
export const MAX_DELIVERY_UNITS = 10_000_000;

/** The evaluated effects of an entry. Files include the values of their expressions as JSON text. */
export interface EvaluatedRaise extends Pick<RaiseTask, "say" | "opens" | "branch" | "marks" | "channel"> {
  readonly attaches: {
    readonly values: string;
    readonly files: readonly RaisedFile[];
    /** How many more files are left out; absent in results of earlier releases. */
    readonly left?: number;
  } | null;
  /** Why the entry opens no task although its event does; otherwise null. */
  readonly unrouted: string | null;
  /** Which parts are left out and why, as text; null for none. */
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

/** A request that must complete before its entry can be evaluated. */
export interface WantedLookup {
  readonly place: EntryPlace;
  /** The entry; null for an event without `forEach`. */
  readonly item: number | null;
  /** The values for the lookup's expressions, except the body, as JSON text. */
  readonly values: string;
}

/** Some entries of a delivery, in order. */
export interface EvaluatedEntries {
  readonly kind: "entries";
  readonly entries: readonly EvaluatedEntry[];
  /** Number of entries that no `when` accepted. */
  readonly skipped: number;
  /** The first `when` or `forEach` that could not be evaluated, and why; null or absent for none. */
  readonly unread?: string | null;
  /** Where evaluation continues; null at the end. */
  readonly next: EntryPlace | null;
  /** The lookup that must complete first at `next`, or null. */
  readonly lookup: WantedLookup | null;
  /** The remaining units of {@link MAX_DELIVERY_UNITS}. */
  readonly units: number;
}

/** The delivery ends without entries. */
export interface EvaluatedAway {
  readonly kind: "over";
  readonly state: "ignored" | "unrouted" | "failed";
  readonly reason: string | null;
}

export type Evaluated = EvaluatedEntries | EvaluatedAway;
