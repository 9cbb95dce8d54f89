import type { Reading } from "../../../storage/store.js";
import type { PickedCandidate } from "../../config-pull-requests/config-pull-request.js";
import type { Refusal } from "../../refusal.js";
import type { VisibleSearch } from "../search/search.queries.js";
import { searchCandidates } from "./search-candidate.table.js";

/**
 * Finds a candidate that a person may pick. Refuses with `not-found` if the search has no such candidate. Refuses with
 * `conflict` for the seed, and for a candidate whose replay on the searched runs has not finished. A pickable candidate
 * stays pickable, so the turn of the pick does not check again.
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
