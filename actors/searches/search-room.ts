import type { Turn } from "../../runtime/turn.js";
import { findLeaving } from "../tables/room.js";
import type { SearchRow } from "./search.js";
import { searchRef } from "./search.messages.js";
import { searches } from "./search.table.js";

/** Most searches of a station that are stored. */
const MAX_SEARCHES = 50;

/** Makes room for a search that starts at a station where none is under way: tells the oldest to remove themselves. */
export function makeSearchRoom(turn: Turn, { lineId, stationId }: Pick<SearchRow, "lineId" | "stationId">): void {
  const { partition } = turn.self;
  const oldestFirst = searches.all(turn, partition, { lineId, stationId }).toReversed();
  const leaving = findLeaving(oldestFirst, { most: MAX_SEARCHES, count: 1, mayGo: () => true }) ?? [];
  for (const { id } of leaving) turn.send(searchRef(partition, id), { type: "search.forget" });
}
