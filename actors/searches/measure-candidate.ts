import type { Reading } from "../../storage/store.js";
import { listReplayedCopies, type ReplayedCopy } from "../replays/measured-copies.js";
import { replays } from "../replays/replay.table.js";
import {
  type HeldOutFigures,
  measureHeldOut,
  measureSearched,
  type SearchedFigures,
} from "./rules/candidate-figures.js";
import type { SearchCandidateRow, SearchRow, SearchSplit, SplitRun } from "./search.js";

/** What the figures of a candidate are measured from. */
export interface CandidateSources {
  readonly search: Pick<SearchRow, "minGain" | "budget">;
  readonly split: SearchSplit;
  readonly seed: Pick<SearchCandidateRow, "replayId">;
  readonly candidate: Pick<SearchCandidateRow, "seed" | "replayId" | "heldOutReplayId">;
}

/** How a candidate, or the seed, did on the searched runs, as its replay is now; null before it has one, or once it is gone. */
export function measureSearchedRuns(
  reading: Reading,
  workspaceId: string,
  { search, split, seed, candidate }: CandidateSources,
): SearchedFigures | null {
  const copies = listOf(reading, workspaceId, candidate.replayId, split.searched);
  if (copies === null) return null;
  const beside = candidate.seed ? null : (listOf(reading, workspaceId, seed.replayId, split.searched) ?? []);
  return measureSearched(copies, { seed: beside, ...termsOf(search) });
}

/** The same on the held-out runs: the seed's replay has them too, a candidate has a replay of its own. */
export function measureHeldOutRuns(
  reading: Reading,
  workspaceId: string,
  { search, split, seed, candidate }: CandidateSources,
): HeldOutFigures | null {
  const replayId = candidate.seed ? candidate.replayId : candidate.heldOutReplayId;
  const copies = listOf(reading, workspaceId, replayId, split.heldOut);
  if (copies === null) return null;
  const beside = candidate.seed ? null : (listOf(reading, workspaceId, seed.replayId, split.heldOut) ?? []);
  const bothFinished = [replayId, seed.replayId].every((id) => isFinished(reading, workspaceId, id));
  return measureHeldOut(copies, { seed: beside, ...termsOf(search), bothFinished });
}

function termsOf({ minGain, budget }: CandidateSources["search"]) {
  return { minGain, currency: budget.ceiling.currency };
}

/** The copies of these runs; null when there is no such replay. */
function listOf(
  reading: Reading,
  workspaceId: string,
  replayId: string | null,
  runs: readonly SplitRun[],
): readonly ReplayedCopy[] | null {
  if (replayId === null || replays.get(reading, workspaceId, replayId) === undefined) return null;
  const wanted = new Set(runs.map(({ runId }) => runId));
  return listReplayedCopies(reading, workspaceId, replayId).filter(({ originalRunId }) => wanted.has(originalRunId));
}

function isFinished(reading: Reading, workspaceId: string, replayId: string | null): boolean {
  return replayId !== null && replays.get(reading, workspaceId, replayId)?.state === "finished";
}
