import { indexedTable } from "../tables/indexed-table.js";

/** The poll of an integration. The row and its cursor exist until the integration is removed. */
export interface PollRow {
  readonly integrationId: string;
  /** `off` while the definition has no poll. */
  readonly state: "off" | "resting" | "asking";
  /** Empty before the first poll. */
  readonly cursor: string;
  /** When the last request ended; null before the first. */
  readonly lastAt: string | null;
  /** The status of the last response; null for none. */
  readonly lastStatus: number | null;
  /** When the next request starts; null during a request and while the definition has no poll. */
  readonly nextAt: string | null;
  /** Number of consecutive failures. */
  readonly failures: number;
  /** The last failure; null after a success. */
  readonly problem: { readonly code: string; readonly reason: string } | null;
  /** Why the last success gave no cursor; null or absent if it gave one, or none was expected. */
  readonly cursorProblem?: string | null;
}

/** Key: `[integration]`. Only the poll's actor writes it. */
export const polls = indexedTable<PollRow>("poll", { order: ["integrationId"] });

/** Number of consecutive failures from which the integration shows a warning. */
export const POLL_FAILS_FROM = 3;
