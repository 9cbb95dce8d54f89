import type { Reading } from "../../storage/store.js";
import type { PickedCandidate } from "../config-pull-requests/config-pull-request.js";
import type { Refusal } from "../refusal.js";
import type { VisibleSearch } from "./search.queries.js";
import { searchCandidates } from "./search-candidate.table.js";

/**
 * A candidate of a search, to be picked. Refused `not-found` when the search has none by that id, `conflict` for the seed
 * and for one whose replay on the searched runs has not finished. Once it may be picked it always may, so that nothing
 * has to be asked again in the turn of the pick.
 */
export function findPickable(
  reading: Reading,
  { workspaceId, search }: VisibleSearch,
  candidateId: string,
): PickedCandidate | Refusal {
  const row = searchCandidates.get(reading, workspaceId, search.id, candidateId);
  if (row === undefined) return { refused: "not-found", detail: `Candidate ${candidateId} not found.` };
  if (row.seed) return { refused: "conflict", detail: "The seed is the live config: there is nothing to change." };
  if (row.replayEnded !== "finished") {
    return { refused: "conflict", detail: "The candidate's replay on the searched runs has not finished." };
  }
  const { id: searchId, teamId, lineId, stationId, stationKey } = search;
  return { teamId, searchId, candidateId, candidateName: row.name, lineId, stationId, stationKey };
}
