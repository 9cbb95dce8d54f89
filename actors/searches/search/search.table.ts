import type { Reading } from "../../../storage/store.js";
import { indexedTable, listedTable } from "../../tables/indexed-table.js";
import { searchChanges } from "../reads/search-changes.js";
import { isSearchUnderWay, type SearchInputRow, type SearchRow } from "./search.js";

/** A search with the computed values for its indexes. */
interface ListedSearch extends SearchRow {
  /** Null after the search has ended. */
  readonly isUnderWay: "yes" | null;
}

/** Key: `[search]`. Search ids increase over time. */
export const searches = listedTable<SearchRow, ListedSearch>("search", {
  order: ["id"],
  listed: (search) => ({ ...search, isUnderWay: isSearchUnderWay(search) ? "yes" : null }),
  changes: (search, _reading, write) => searchChanges(search, write),
  indexes: {
    "team-search": ["teamId"],
    "station-search": ["lineId", "stationId"],
    "set-search": ["setId"],
    "search-under-way": { by: ["lineId", "stationId", "isUnderWay"], has: ["isUnderWay"] },
    "search-under-way-of-team": { by: ["teamId", "isUnderWay"], has: ["isUnderWay"] },
  },
});

/** Key: `[search]` */
export const searchInputs = indexedTable<SearchInputRow>("search-input", {
  order: ["searchId"],
  blobs: ({ config }) => config.skills.map(({ digest }) => digest),
});

/** Returns the input of a search, which exists for as long as the search. */
export function getSearchInput(reading: Reading, workspaceId: string, searchId: string): SearchInputRow {
  const input = searchInputs.get(reading, workspaceId, searchId);
  if (input === undefined) throw new Error("a search without its input");
  return input;
}

/** Lists the searches of a team that have not ended. */
export function listSearchesUnderWay(reading: Reading, workspaceId: string, teamId: string): readonly SearchRow[] {
  return searches.all(reading, workspaceId, { teamId, isUnderWay: "yes" });
}

/** Lists the searches at a line's stations that have not ended. */
export function listUnderWayOfLine(reading: Reading, workspaceId: string, lineId: string): readonly SearchRow[] {
  return searches.all(reading, workspaceId, { lineId, isUnderWay: "yes" });
}

/** Finds the running search of a station; undefined if there is none. A station has at most one running search. */
export function findSearchUnderWay(
  reading: Reading,
  workspaceId: string,
  { lineId, stationId }: Pick<SearchRow, "lineId" | "stationId">,
): SearchRow | undefined {
  return searches.all(reading, workspaceId, { lineId, stationId, isUnderWay: "yes" }, { limit: 1 })[0];
}
