import type { Reading } from "../../../storage/store.js";
import { listReplayedCopies, type ReplayedCopy } from "../../replays/copies/measured-copies.js";
import { replays } from "../../replays/replay/replay.table.js";
import {
  type HeldOutFigures,
  measureHeldOut,
  measureSearched,
  type SearchedFigures,
} from "../rules/candidate-figures.js";
import type { SearchCandidateRow, SearchRow, SearchSplit, SplitRun } from "../search/search.js";

/** The data for measuring a candidate's figures. */
export interface CandidateSources {
  readonly search: Pick<SearchRow, "minGain" | "budget">;
  readonly split: SearchSplit;
  readonly seed: Pick<SearchCandidateRow, "replayId">;
  readonly candidate: Pick<SearchCandidateRow, "seed" | "replayId" | "heldOutReplayId">;
}

/**
 * Measures a candidate or the seed on the searched runs, from the current state of its replay; null if the replay is
 * not stored.
 */
export function measureSearchedRuns(
  reading: Reading,
  workspaceId: string,
  { search, split, seed, candidate }: CandidateSources,
): SearchedFigures | null {
  const copies = getList(reading, workspaceId, candidate.replayId, split.searched);
  if (copies === null) return null;
  const beside = candidate.seed ? null : (getList(reading, workspaceId, seed.replayId, split.searched) ?? []);
  return measureSearched(copies, { seed: beside, ...toTerms(search) });
}

/**
 * Like {@link measureSearchedRuns}, for the held-out runs. The seed's replay includes these runs. A candidate has a
 * separate replay for the held-out runs.
 */
export function measureHeldOutRuns(
  reading: Reading,
  workspaceId: string,
  { search, split, seed, candidate }: CandidateSources,
): HeldOutFigures | null {
  const replayId = candidate.seed ? candidate.replayId : candidate.heldOutReplayId;
  const copies = getList(reading, workspaceId, replayId, split.heldOut);
  if (copies === null) return null;
  const beside = candidate.seed ? null : (getList(reading, workspaceId, seed.replayId, split.heldOut) ?? []);
  const bothFinished = [replayId, seed.replayId].every((id) => isFinished(reading, workspaceId, id));
  return measureHeldOut(copies, { seed: beside, ...toTerms(search), bothFinished });
}

function toTerms({ minGain, budget }: CandidateSources["search"]) {
  return { minGain, currency: budget.ceiling.currency };
}

/** Returns a replay's copies of the runs in `runs`; null if the replay does not exist. */
function getList(
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
