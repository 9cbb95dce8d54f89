import type { Turn } from "../../../runtime/turns/turn.js";
import { findLeaving } from "../../tables/row-quota.js";
import type { SearchRow } from "./search.js";
import { searchRef } from "./search.messages.js";
import { searches } from "./search.table.js";

/** Maximum number of searches stored for a station. */
const MAX_SEARCHES = 50;

/**
 * Makes space for a new search at a station: tells its oldest searches to remove themselves. The station must have no
 * running search.
 */
export function removeOldestSearches(turn: Turn, { lineId, stationId }: Pick<SearchRow, "lineId" | "stationId">): void {
  const { partition } = turn.self;
  const oldestFirst = searches.all(turn, partition, { lineId, stationId }).toReversed();
  const leaving = findLeaving(oldestFirst, { most: MAX_SEARCHES, count: 1, mayGo: () => true }) ?? [];
  for (const { id } of leaving) turn.send(searchRef(partition, id), { type: "search.forget" });
}
