import type { Reading } from "../../../storage/store.js";
import { findPullRequestOf } from "../../config-pull-requests/config-pull-request.table.js";
import { candidatePullRequest } from "../../config-pull-requests/config-pull-request.view.js";
import { replays } from "../../replays/replay/replay.table.js";
import { type HeldOutFigures, type SearchedFigures, sumSpent } from "../rules/candidate-figures.js";
import { onlyOnSeenTasks } from "../rules/standing.js";
import type { ReplayEnd, SearchCandidateRow } from "../search/search.js";
import type { SearchCandidateView } from "./search-schemas.js";

/** A candidate, or the seed, with the figures known so far. */
export interface CandidateFiguresNow {
  readonly row: SearchCandidateRow;
  /** Null before its replay on the searched runs starts. */
  readonly searched: SearchedFigures | null;
  /** Null before its replay on the held-out runs starts. */
  readonly heldOut: HeldOutFigures | null;
}

/** Shows a candidate with its figures, replays and pull request. */
export function searchCandidateView(
  reading: Reading,
  workspaceId: string,
  { now, currency, onFrontier }: { now: CandidateFiguresNow; currency: string; onFrontier: boolean },
): SearchCandidateView {
  const { row, searched, heldOut } = now;
  const { candidateId, name, seed, iteration, hypothesis, fingerprint, changes, replayId, heldOutReplayId } = row;
  const stateOf = (id: string | null, ended: ReplayEnd | null) =>
    id === null ? ended : (replays.get(reading, workspaceId, id)?.state ?? "gone");
  const picked = findPullRequestOf(reading, workspaceId, candidateId);
  return {
    candidateId,
    name,
    seed,
    iteration,
    hypothesis,
    fingerprint,
    changes,
    replayId,
    replayState: stateOf(replayId, row.replayEnded),
    heldOutReplayId,
    heldOutReplayState: stateOf(heldOutReplayId, row.heldOutEnded),
    ...searchedView(searched),
    ...heldOutView(heldOut),
    costPerRun: searched?.costPerRun ?? null,
    spent: searched === null ? { amount: 0, currency } : sumSpent(searched, heldOut),
    onFrontier,
    onlyOnSeenTasks: seed ? null : onlyOnSeenTasks({ searched, heldOut }),
    pullRequest: picked === undefined ? null : candidatePullRequest(picked),
  };
}

function searchedView(figures: SearchedFigures | null) {
  return {
    searchScore: figures?.searchScore ?? null,
    searchInterval: figures?.searchInterval ?? null,
    searchScored: figures?.searchScored ?? 0,
    searchTasks: figures?.searchTasks ?? 0,
    searchedGain: figures?.searchedGain ?? null,
    searchedPairs: figures?.searchedPairs ?? null,
  };
}

function heldOutView(figures: HeldOutFigures | null) {
  return {
    heldOutScore: figures?.heldOutScore ?? null,
    heldOutInterval: figures?.heldOutInterval ?? null,
    heldOutScored: figures?.heldOutScored ?? 0,
    heldOutTasks: figures?.heldOutTasks ?? 0,
    heldOutGain: figures?.heldOutGain ?? null,
    heldOutPairs: figures?.heldOutPairs ?? null,
    heldOutCost: figures?.heldOutCost ?? null,
  };
}
