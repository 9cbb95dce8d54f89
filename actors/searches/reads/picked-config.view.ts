import type {
  ComparedFigures,
  CostFigures,
  Evidence,
  FindPickedConfig,
  SideFigures,
} from "../../config-pull-requests/picked-config.js";
import { compare, fromText } from "../../fraction.js";
import { toAmount } from "../../money.js";
import type { PairTally } from "../../statistics/comparison.js";
import { costInterval } from "../../statistics/cost-interval.js";
import { searchCandidateInputs, searchCandidates } from "../candidates/search-candidate.table.js";
import type { HeldOutFigures, SearchedFigures } from "../rules/candidate-figures.js";
import { onlyOnSeenTasks } from "../rules/ranking.js";
import { type SearchCandidateRow, type SearchRow, toBlock } from "../search/search.js";
import { searches, searchInputs } from "../search/search.table.js";

/**
 * Collects the data for the pull request of a picked candidate: both configs and the stored figures, without any task
 * or run. Returns null for the seed, and if some of the data is no longer stored.
 */
export const findPickedConfig: FindPickedConfig = (reading, workspaceId, { searchId, candidateId }) => {
  const search = searches.get(reading, workspaceId, searchId);
  const input = searchInputs.get(reading, workspaceId, searchId);
  const candidate = searchCandidates.get(reading, workspaceId, searchId, candidateId);
  const proposed = searchCandidateInputs.get(reading, workspaceId, searchId, candidateId);
  if (search === undefined || input === undefined || candidate === undefined || proposed === undefined) return null;
  const seed = searchCandidates.get(reading, workspaceId, searchId, search.seedCandidateId);
  return {
    was: toBlock(input.config, input.block),
    wanted: toBlock(proposed.config, proposed.block),
    changes: candidate.changes,
    hypothesis: candidate.hypothesis,
    evidence: toEvidence(search, seed, candidate),
  };
};

function toEvidence(
  { objective, seedReplayId }: SearchRow,
  seed: SearchCandidateRow | undefined,
  candidate: SearchCandidateRow,
): Evidence {
  const { searched, heldOut, replayId, heldOutReplayId } = candidate;
  return {
    objective,
    searched: searched === null ? null : compareSearched(seed?.searched ?? null, searched),
    heldOut: heldOut === null ? null : compareHeldOut(seed?.heldOut ?? null, heldOut),
    heldOutCost: heldOut?.heldOutCost ?? null,
    onlyOnSeenTasks: onlyOnSeenTasks({ searched, heldOut }),
    replays: { live: seedReplayId, searched: replayId, heldOut: heldOutReplayId },
  };
}

function compareSearched(live: SearchedFigures | null, own: SearchedFigures): ComparedFigures {
  return {
    live: searchedSide(live),
    candidate: searchedSide(own),
    gain: own.searchedGain,
    worse: live === null ? null : countWorse(live, own),
    judgedWorse: toJudged(own.searchedPairs),
  };
}

function searchedSide(figures: SearchedFigures | null): SideFigures {
  return {
    success: figures?.searchInterval ?? null,
    cost: figures === null ? null : toCost(figures),
    scored: figures?.searchScored ?? 0,
    tasks: figures?.searchTasks ?? 0,
  };
}

function toCost({ costPerRun, tasks }: SearchedFigures): CostFigures | null {
  const interval = costInterval(tasks.flatMap(({ cost }) => (cost === null ? [] : [fromText(cost)])));
  if (costPerRun === null || interval === null) return null;
  return { ...costPerRun, low: toAmount(interval.low), high: toAmount(interval.high) };
}

function compareHeldOut(live: HeldOutFigures | null, own: HeldOutFigures): ComparedFigures {
  return {
    live: heldOutSide(live),
    candidate: heldOutSide(own),
    gain: own.heldOutGain,
    worse: null,
    judgedWorse: toJudged(own.heldOutPairs),
  };
}

function heldOutSide(figures: HeldOutFigures | null): SideFigures {
  return {
    success: figures?.heldOutInterval ?? null,
    cost: null,
    scored: figures?.heldOutScored ?? 0,
    tasks: figures?.heldOutTasks ?? 0,
  };
}

/**
 * Compares the two configs by task. `of` is the number of tasks with scored copies of both configs. `tasks` is the
 * number of these tasks where the candidate's success share is lower than the live config's.
 */
function countWorse(live: SearchedFigures, own: SearchedFigures): { readonly tasks: number; readonly of: number } {
  const shares = new Map(live.tasks.map(({ taskId, share }) => [taskId, share]));
  const both = own.tasks.flatMap(({ taskId, share }) => {
    const was = shares.get(taskId) ?? null;
    return was === null || share === null ? [] : [{ was, now: share }];
  });
  const worse = both.filter(({ was, now }) => compare(fromText(now), fromText(was)) < 0);
  return { tasks: worse.length, of: both.length };
}

function toJudged(pairs: PairTally | null): { readonly tasks: number; readonly of: number } | null {
  if (pairs === null) return null;
  const { wins, losses, ties } = pairs;
  return { tasks: losses, of: wins + losses + ties };
}
