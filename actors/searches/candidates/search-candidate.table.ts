import type { Reading } from "../../../storage/store.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { candidateChange } from "../reads/search-changes.js";
import type { SearchCandidateInputRow, SearchCandidateRow } from "../search/search.js";

/** Key: `[search, candidate]`. Candidate ids increase over time, and the seed's is the first. */
export const searchCandidates = indexedTable<SearchCandidateRow>("search-candidate", {
  under: ["searchId"],
  order: ["candidateId"],
  changes: (candidate) => [candidateChange(candidate)],
  indexes: {
    "search-candidate-by-config": ["searchId", "runningFingerprint"],
    "search-candidate-by-name": ["searchId", "name"],
  },
});

/**
 * The inputs of proposed candidates. The seed has no row here: its input is the search's own. Key: `[search,
 * candidate]`
 */
export const searchCandidateInputs = indexedTable<SearchCandidateInputRow>("search-candidate-input", {
  under: ["searchId"],
  order: ["candidateId"],
  blobs: ({ config }) => config.skills.map(({ digest }) => digest),
});

/** Lists the candidates of a search, the seed first, then in the order of admission: at most 51. */
export function listCandidates(reading: Reading, workspaceId: string, searchId: string): readonly SearchCandidateRow[] {
  return searchCandidates.list(reading, workspaceId, [searchId]);
}
