import type { Reading } from "../../storage/store.js";
import { replayPairs } from "../replays/judging/replay-pair.table.js";
import { isUnderWay, replays } from "../replays/replay.table.js";
import { listCopies } from "../replays/replay-copy.table.js";
import type { MeasuredCopy } from "../statistics/comparison.js";
import { measureHeldOut, measureSearched } from "./rules/candidate-figures.js";
import type { ReplayEnd, SearchCandidateRow, SearchInputRow, SearchRow } from "./search.js";

/** The figures of candidates, from the rows of their replays, and the ends of these. */

/** What figures are measured with. */
export interface Measuring {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly search: SearchRow;
  readonly input: SearchInputRow;
  /** How the seed's replay ended; null while it has not. */
  readonly seedEnded: ReplayEnd | null;
}

/** How a replay ended; null while it is under way. One that is gone was stopped, as far as a search is concerned. */
export function findEnd({ reading, workspaceId }: Measuring, replayId: string): ReplayEnd | null {
  const replay = replays.get(reading, workspaceId, replayId);
  if (replay === undefined) return "stopped";
  return isUnderWay(replay) ? null : (replay.state as ReplayEnd);
}

/** The candidate with its replays' ends as they are now and their figures; itself where none has ended since. */
export function measureEnds(measuring: Measuring, candidate: SearchCandidateRow): SearchCandidateRow {
  const { replayId, heldOutReplayId } = candidate;
  const replayEnded = candidate.replayEnded ?? (replayId === null ? null : findEnd(measuring, replayId));
  const heldOutEnded =
    candidate.heldOutEnded ?? (heldOutReplayId === null ? null : findEnd(measuring, heldOutReplayId));
  const isSame = replayEnded === candidate.replayEnded && heldOutEnded === candidate.heldOutEnded;
  return isSame ? candidate : measure(measuring, { ...candidate, replayEnded, heldOutEnded });
}

/** The candidate with figures of the replays of it that have ended and are stored. */
export function measure(measuring: Measuring, candidate: SearchCandidateRow): SearchCandidateRow {
  return candidate.seed ? measureSeed(measuring, candidate) : measureProposed(measuring, candidate);
}

function measureSeed(measuring: Measuring, seed: SearchCandidateRow): SearchCandidateRow {
  const { search, input } = measuring;
  const copies = seed.replayId === null ? null : readCopies(measuring, seed.replayId);
  if (copies === null || seed.replayEnded === null) return seed;
  const terms = { seed: null, minGain: search.minGain, currency: search.budget.ceiling.currency };
  return {
    ...seed,
    searched: measureSearched(ofRuns(copies, input.split.searched), terms),
    heldOut: measureHeldOut(ofRuns(copies, input.split.heldOut), { ...terms, bothFinished: false }),
  };
}

function measureProposed(measuring: Measuring, candidate: SearchCandidateRow): SearchCandidateRow {
  const { search, input, seedEnded } = measuring;
  const { replayId, heldOutReplayId, replayEnded, heldOutEnded } = candidate;
  const seed = readCopies(measuring, search.seedReplayId);
  if (seed === null) return candidate;
  const own = replayId === null || replayEnded === null ? null : readCopies(measuring, replayId);
  const heldOut = heldOutReplayId === null || heldOutEnded === null ? null : readCopies(measuring, heldOutReplayId);
  const terms = { minGain: search.minGain, currency: search.budget.ceiling.currency };
  const bothFinished = heldOutEnded === "finished" && seedEnded === "finished";
  const besides = { ...terms, seed: ofRuns(seed, input.split.heldOut), bothFinished };
  return {
    ...candidate,
    searched:
      own === null ? candidate.searched : measureSearched(own, { ...terms, seed: ofRuns(seed, input.split.searched) }),
    heldOut: heldOut === null ? candidate.heldOut : measureHeldOut(heldOut, besides),
  };
}

/** The copies of a replay as figures need them, in the order of its runs; null when the replay is gone. */
export function readCopies(
  { reading, workspaceId }: Pick<Measuring, "reading" | "workspaceId">,
  replayId: string,
): readonly (MeasuredCopy & { readonly runId: string | null })[] | null {
  const replay = replays.get(reading, workspaceId, replayId);
  if (replay === undefined) return null;
  const pairs = replay.pairedWith === null ? [] : replayPairs.list(reading, workspaceId, [replayId]);
  const outcomes = new Map(pairs.map(({ place, repeat, outcome }) => [`${place}/${repeat}`, outcome]));
  return listCopies(reading, workspaceId, replayId).map((copy) => {
    const { runId, taskId, originalRunId, repeat, result, spent, priced, ms, steps, place } = copy;
    const pairOutcome = outcomes.get(`${place}/${repeat}`) ?? null;
    return { runId, taskId, originalRunId, repeat, result, spent, priced, ms, steps, pairOutcome };
  });
}

/** The copies of some of the set's runs. */
export function ofRuns<Each extends { readonly originalRunId: string }>(
  copies: readonly Each[],
  runs: readonly { readonly runId: string }[],
): readonly Each[] {
  const wanted = new Set(runs.map(({ runId }) => runId));
  return copies.filter(({ originalRunId }) => wanted.has(originalRunId));
}
