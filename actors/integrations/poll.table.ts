import { indexedTable } from "../tables/indexed-table.js";
import type { PollRow } from "./poll.js";

/** Key: `[integration]`. Only the poll's actor writes these rows. */
export const polls = indexedTable<PollRow>("poll", { order: ["integrationId"] });

/** Number of consecutive failures after which the integration shows a warning. */
export const POLL_FAILS_FROM = 3;
