import type { RaisedFile, RaiseTask } from "../tasks/team-marks.messages.js";
import type { EntryOutcome } from "./delivery.js";

/** A place in a delivery: an event by its index, and an entry of its `forEach`, 0 where it has none. */
export interface EntryPlace {
  readonly event: number;
  readonly item: number;
}

export const FIRST_PLACE: EntryPlace = { event: 0, item: 0 };

/** Entries of a `forEach` that are evaluated, and entries of a delivery of which something comes. */
export const MAX_ENTRIES = 1_000;
/** Cost limit of the expressions of one delivery, in units of `expressions/meter.ts`: about a second. */
export const MAX_DELIVERY_UNITS = 10_000_000;

/** What an entry raises. Files come with the values of their expressions as JSON text. */
export interface EvaluatedRaise extends Pick<RaiseTask, "say" | "opens" | "branch" | "marks" | "channel"> {
  readonly attaches: {
    readonly values: string;
    readonly files: readonly RaisedFile[];
    /** How many more there are, which are left out; absent in a result of an earlier release. */
    readonly left?: number;
  } | null;
  /** Why it opens nothing, though it would; null otherwise. */
  readonly unrouted: string | null;
  /** What is left out of it, in words; null for nothing. */
  readonly note: string | null;
}

/** An entry that was evaluated: it raises something, or failed. */
export type EvaluatedEntry = {
  readonly event: number;
  readonly item: number | null;
} & (
  | { readonly raise: EvaluatedRaise }
  | { readonly outcome: Extract<EntryOutcome, "failed">; readonly reason: string }
);

/** A request that has to be answered before its entry can be evaluated. */
export interface WantedLookup {
  readonly place: EntryPlace;
  /** The entry; null for an event without `forEach`. */
  readonly item: number | null;
  /** What its expressions see, as JSON text, without the body. */
  readonly values: string;
}

/** Some entries of a delivery, in order. */
export interface EvaluatedEntries {
  readonly kind: "entries";
  readonly entries: readonly EvaluatedEntry[];
  /** Entries that no `when` let through. */
  readonly skipped: number;
  /** The first `when` or `forEach` that could not be read, and why; null or absent for none. */
  readonly unread?: string | null;
  /** Where to go on; null at the end. */
  readonly next: EntryPlace | null;
  /** What has to be looked up first at `next`, or null. */
  readonly lookup: WantedLookup | null;
  /** What is left of {@link MAX_DELIVERY_UNITS}. */
  readonly units: number;
}

/** Nothing comes of the delivery. */
export interface EvaluatedAway {
  readonly kind: "over";
  readonly state: "ignored" | "unrouted" | "failed";
  readonly reason: string | null;
}

export type Evaluated = EvaluatedEntries | EvaluatedAway;
