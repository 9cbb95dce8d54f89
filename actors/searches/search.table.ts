import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import { isSearchUnderWay, type SearchInputRow, type SearchRow, searchStates } from "./search.js";
import { searchChanges } from "./search-changes.js";

/** `[search]`; ids rise with time. */
export const searches = indexedTable<SearchRow>("search", {
  order: ["id"],
  changes: (search, _reading, write) => searchChanges(search, write),
  indexes: {
    "team-search": ["teamId"],
    "station-search": ["lineId", "stationId"],
    "set-search": ["setId"],
    "search-under-way": { by: ["teamId", "state"], only: { state: ["seeding", "searching", "holding-out"] } },
  },
});

/** `[search]` */
export const searchInputs = indexedTable<SearchInputRow>("search-input", {
  order: ["searchId"],
  blobs: ({ config }) => config.skills.map(({ digest }) => digest),
});

/** The input of a search, which exists as long as the search. */
export function getSearchInput(reading: Reading, workspaceId: string, searchId: string): SearchInputRow {
  const input = searchInputs.get(reading, workspaceId, searchId);
  if (input === undefined) throw new Error("a search without its input");
  return input;
}

/** The searches of a team that have not ended. */
export function listSearchesUnderWay(reading: Reading, workspaceId: string, teamId: string): readonly SearchRow[] {
  const states = searchStates.filter((state) => isSearchUnderWay({ state }));
  return states.flatMap((state) => searches.all(reading, workspaceId, { teamId, state }));
}

/** The search of a station that has not ended: none is started beside it. */
export function findSearchUnderWay(
  reading: Reading,
  workspaceId: string,
  { lineId, stationId }: Pick<SearchRow, "lineId" | "stationId">,
): SearchRow | undefined {
  const newest = searches.all(reading, workspaceId, { lineId, stationId }, { limit: 1 })[0];
  return newest !== undefined && isSearchUnderWay(newest) ? newest : undefined;
}
