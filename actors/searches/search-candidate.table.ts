import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { SearchCandidateInputRow, SearchCandidateRow } from "./search.js";
import { candidateChange } from "./search-changes.js";

/** `[search, candidate]`; ids rise with time, the seed's is the first. */
export const searchCandidates = indexedTable<SearchCandidateRow>("search-candidate", {
  ...{ under: ["searchId"], order: ["candidateId"] },
  changes: (candidate) => [candidateChange(candidate)],
  indexes: {
    "search-candidate-by-config": ["searchId", "runningFingerprint"],
    "search-candidate-by-name": ["searchId", "name"],
  },
});

/** `[search, candidate]`: of proposed candidates; the seed's is the search's input. */
export const searchCandidateInputs = indexedTable<SearchCandidateInputRow>("search-candidate-input", {
  ...{ under: ["searchId"], order: ["candidateId"] },
  blobs: ({ config }) => config.skills.map(({ digest }) => digest),
});

/** The candidates of a search, the seed first, then in the order in which they were admitted: at most 51. */
export function listCandidates(reading: Reading, workspaceId: string, searchId: string): readonly SearchCandidateRow[] {
  return searchCandidates.list(reading, workspaceId, [searchId]);
}
