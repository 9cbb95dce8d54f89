import type { Reading } from "../../../storage/store.js";
import { listReplayedCopies } from "../../replays/copies/measured-copies.js";
import { isUnderWay, replays } from "../../replays/replay/replay.table.js";
import { tallyPairs } from "../../statistics/comparison.js";
import type { ReplayEnd, SearchCandidateRow, SearchInputRow, SearchRow } from "../search/search.js";
import { measureHeldOutRuns, measureSearchedRuns } from "./measure-candidate.js";

/**
 * The stored results of a candidate after its replays end: how the replays ended, and the candidate's figures
 * (`measure-candidate.ts`).
 */

/** The data for measuring figures. */
export interface Measuring {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly search: SearchRow;
  readonly input: SearchInputRow;
}

/** Returns how a replay ended; null while it is running. A removed replay counts as stopped. */
export function findEnd({ reading, workspaceId }: Measuring, replayId: string): ReplayEnd | null {
  const replay = replays.get(reading, workspaceId, replayId);
  if (replay === undefined) return "stopped";
  return isUnderWay(replay) ? null : (replay.state as ReplayEnd);
}

/**
 * Returns the candidate with the ends and figures of its replays. Returns the same object if no replay ended since the
 * last update.
 */
export function measureEnds(measuring: Measuring, candidate: SearchCandidateRow): SearchCandidateRow {
  const { replayId, heldOutReplayId } = candidate;
  const replayEnded = candidate.replayEnded ?? (replayId === null ? null : findEnd(measuring, replayId));
  const heldOutEnded =
    candidate.heldOutEnded ?? (heldOutReplayId === null ? null : findEnd(measuring, heldOutReplayId));
  const isSame = replayEnded === candidate.replayEnded && heldOutEnded === candidate.heldOutEnded;
  return isSame ? candidate : measure(measuring, { ...candidate, replayEnded, heldOutEnded });
}

/**
 * Returns the candidate with the current pairs of its replays. After the replays have ended, only pairs can change the
 * candidate's figures.
 */
export function measurePairs(
  { reading, workspaceId }: Pick<Measuring, "reading" | "workspaceId">,
  candidate: SearchCandidateRow,
): SearchCandidateRow {
  const { replayId, heldOutReplayId, searched, heldOut } = candidate;
  const findPairs = (id: string | null) =>
    id === null || replays.get(reading, workspaceId, id) === undefined
      ? null
      : tallyPairs(listReplayedCopies(reading, workspaceId, id));
  const searchedPairs = searched === null ? null : findPairs(replayId);
  const heldOutPairs = heldOut === null ? null : findPairs(heldOutReplayId);
  return {
    ...candidate,
    searched: searched === null || searchedPairs === null ? searched : { ...searched, searchedPairs },
    heldOut: heldOut === null || heldOutPairs === null ? heldOut : { ...heldOut, heldOutPairs },
  };
}

/**
 * Measures the candidate's replays that have ended. Keeps the known figures of a replay that was removed. Changes
 * nothing if the seed's replay was removed.
 */
function measure(
  { reading, workspaceId, search, input }: Measuring,
  candidate: SearchCandidateRow,
): SearchCandidateRow {
  const seed = { replayId: search.seedReplayId };
  if (replays.get(reading, workspaceId, search.seedReplayId) === undefined) return candidate;
  const sources = { search, split: input.split, seed, candidate };
  const { seed: isSeed, replayEnded, heldOutEnded } = candidate;
  const searched = replayEnded === null ? null : measureSearchedRuns(reading, workspaceId, sources);
  const heldOutIsOver = (isSeed ? replayEnded : heldOutEnded) !== null;
  const heldOut = heldOutIsOver ? measureHeldOutRuns(reading, workspaceId, sources) : null;
  return { ...candidate, searched: searched ?? candidate.searched, heldOut: heldOut ?? candidate.heldOut };
}
