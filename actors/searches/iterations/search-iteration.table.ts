import type { Reading } from "../../../storage/store.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { iterationChanges } from "../reads/search-changes.js";
import type { SearchIterationRow } from "../search/search.js";

/** Key: `[search, number]` */
export const searchIterations = indexedTable<SearchIterationRow>("search-iteration", {
  under: ["searchId"],
  order: ["number"],
  changes: (iteration, _reading, write) => iterationChanges(iteration, write),
  indexes: { "search-iteration-of-actor": ["id", "searchId"] },
});

/** Finds the iteration of the actor with this id; undefined if it is gone. */
export function findIteration(reading: Reading, workspaceId: string, id: string): SearchIterationRow | undefined {
  return searchIterations.all(reading, workspaceId, { id }, { limit: 1 })[0];
}

/** Lists the iterations of a search, in order: at most 10. */
export function listIterations(reading: Reading, workspaceId: string, searchId: string): readonly SearchIterationRow[] {
  return searchIterations.list(reading, workspaceId, [searchId]);
}
