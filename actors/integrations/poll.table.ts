import { indexedTable } from "../tables/indexed-table.js";

/** The poll of an integration. It is stored while its integration is there, with its cursor. */
export interface PollRow {
  readonly integrationId: string;
  /** `off` while the definition has no poll. */
  readonly state: "off" | "resting" | "asking";
  /** Empty before the first. */
  readonly cursor: string;
  /** When it last asked; null before the first. */
  readonly lastAt: string | null;
  /** The status of the last answer; null for none. */
  readonly lastStatus: number | null;
  /** When it asks next; null while it asks, and while the definition has no poll. */
  readonly nextAt: string | null;
  /** Failures in a row. */
  readonly failures: number;
  /** What the last failure was; null after a success. */
  readonly problem: { readonly code: string; readonly reason: string } | null;
  /** Why the last success gave no cursor; null or absent where it did, or nothing should. */
  readonly cursorProblem?: string | null;
}

/** `[integration]`; written by the poll's actor alone. */
export const polls = indexedTable<PollRow>("poll", { order: ["integrationId"] });

/** Failures in a row from which on readers of the integration are warned. */
export const POLL_FAILS_FROM = 3;
