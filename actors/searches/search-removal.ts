import type { Turn } from "../../runtime/turn.js";
import { configPullRequestRef } from "../config-pull-requests/config-pull-request.messages.js";
import { findPullRequestOf } from "../config-pull-requests/config-pull-request.table.js";
import { removeSearched } from "../replays/made-candidate.table.js";
import { replayPurses } from "../replays/replay-purse.table.js";
import { unwatchReplay } from "../replays/replay-watcher.table.js";
import { removePins } from "../tables/pins.js";
import { readScene } from "./classify-search.js";
import { isSearchUnderWay } from "./search.js";
import { searchRef } from "./search.messages.js";
import { searches, searchInputs } from "./search.table.js";
import { endSearch } from "./search.transitions.js";
import { searchCandidateInputs, searchCandidates } from "./search-candidate.table.js";
import { searchTopic } from "./search-changes.js";
import { searchIterationRef } from "./search-iteration.messages.js";
import { searchIterations } from "./search-iteration.table.js";
import { replaysOf } from "./search-replays.js";

/** Removes the search of this turn with its iterations and candidates. Its replays stay with their set. */
export function removeSearch(turn: Turn): void {
  const { partition, id } = turn.self;
  const search = searches.get(turn, partition, id);
  if (search !== undefined) {
    const scene = readScene(turn, search);
    if (isSearchUnderWay(search)) endSearch(turn, scene, { state: "stopped", ending: "stopped" });
    for (const replayId of scene.candidates.flatMap(replaysOf)) {
      unwatchReplay(turn, replayId, searchRef(partition, id));
    }
    for (const iteration of scene.iterations) {
      const runIds = [...iteration.lostRunIds, iteration.runId].flatMap((runId) => runId ?? []);
      turn.send(searchIterationRef(partition, iteration.id), { type: "iteration.forget", runIds });
      searchIterations.remove(turn, partition, iteration);
    }
    for (const candidate of scene.candidates) removeCandidate(turn, id, candidate.candidateId);
    const stored = searches.get(turn, partition, id);
    if (stored !== undefined) searches.remove(turn, partition, stored);
    searchInputs.remove(turn, partition, scene.input);
    replayPurses.remove(turn, partition, id);
    removePins(turn, { of: searches.name, id });
    turn.publishChange(searchTopic(id), { type: "deleted" });
  }
  turn.stop();
}

function removeCandidate(turn: Turn, searchId: string, candidateId: string): void {
  const { partition } = turn.self;
  const candidate = searchCandidates.get(turn, partition, searchId, candidateId);
  const input = searchCandidateInputs.get(turn, partition, searchId, candidateId);
  if (candidate !== undefined) searchCandidates.remove(turn, partition, candidate);
  if (input === undefined) return;
  searchCandidateInputs.remove(turn, partition, input);
  removeSearched(turn, candidateId);
  if (findPullRequestOf(turn, partition, candidateId) !== undefined) {
    turn.send(configPullRequestRef(partition, candidateId), { type: "pull-request.forget" });
  }
}
