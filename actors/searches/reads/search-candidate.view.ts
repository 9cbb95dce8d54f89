import type { Reading } from "../../../storage/store.js";
import { findPullRequestByCandidate } from "../../config-pull-requests/config-pull-request.table.js";
import { candidatePullRequest } from "../../config-pull-requests/config-pull-request.view.js";
import { replays } from "../../replays/replay/replay.table.js";
import { defineView, type Shown } from "../../view.js";
import { type HeldOutFigures, type SearchedFigures, sumSpent } from "../rules/candidate-figures.js";
import { onlyOnSeenTasks } from "../rules/ranking.js";
import type { ReplayEnd, SearchCandidateRow } from "../search/search.js";
import type { heldOutFiguresSchema, searchedFiguresSchema } from "./figure-schemas.js";
import { type SearchCandidateView, searchCandidateSchema } from "./search-schemas.js";

/** A candidate, or the seed, with the figures known so far. */
export interface CandidateFiguresNow {
  readonly row: SearchCandidateRow;
  /** Null while the figures on the searched runs are not known. */
  readonly searched: SearchedFigures | null;
  /** Null while the figures on the held-out runs are not known. */
  readonly heldOut: HeldOutFigures | null;
}

interface Sources {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly now: CandidateFiguresNow;
  /** The currency of the search's ceiling. */
  readonly currency: string;
  readonly onFrontier: boolean;
}

type ShownFigures = Shown<typeof searchedFiguresSchema> & Shown<typeof heldOutFiguresSchema>;

/** The figures to show for a candidate that has no figures yet. */
const NO_FIGURES: ShownFigures = {
  searchScore: null,
  searchInterval: null,
  searchScored: 0,
  searchTasks: 0,
  searchedGain: null,
  searchedPairs: null,
  costPerRun: null,
  heldOutScore: null,
  heldOutInterval: null,
  heldOutScored: 0,
  heldOutTasks: 0,
  heldOutGain: null,
  heldOutPairs: null,
  heldOutCost: null,
};

const showCandidate = defineView<SearchCandidateRow & ShownFigures, Sources>()(searchCandidateSchema, {
  replayState: ({ replayId, replayEnded }, sources) => findState(sources, replayId, replayEnded),
  heldOutReplayState: ({ heldOutReplayId, heldOutEnded }, sources) => findState(sources, heldOutReplayId, heldOutEnded),
  spent: (_row, { now: { searched, heldOut }, currency }) =>
    searched === null ? { amount: 0, currency } : sumSpent(searched, heldOut),
  onFrontier: (_row, { onFrontier }) => onFrontier,
  onlyOnSeenTasks: ({ seed }, { now }) => (seed ? null : onlyOnSeenTasks(now)),
  pullRequest: ({ candidateId }, { reading, workspaceId }) => {
    const picked = findPullRequestByCandidate(reading, workspaceId, candidateId);
    return picked === undefined ? null : candidatePullRequest(picked);
  },
});

/** Shows a candidate with its figures, replays and pull request. */
export function searchCandidateView(
  reading: Reading,
  workspaceId: string,
  terms: Pick<Sources, "now" | "currency" | "onFrontier">,
): SearchCandidateView {
  const { row, searched, heldOut } = terms.now;
  return showCandidate({ ...row, ...NO_FIGURES, ...searched, ...heldOut }, { ...terms, reading, workspaceId });
}

function findState({ reading, workspaceId }: Sources, id: string | null, ended: ReplayEnd | null) {
  return id === null ? ended : (replays.get(reading, workspaceId, id)?.state ?? "gone");
}
