import type { Reading } from "../../storage/store.js";
import { listReplayedCopies } from "../replays/measured-copies.js";
import { isUnderWay, replays } from "../replays/replay.table.js";
import { tallyPairs } from "../statistics/comparison.js";
import { measureHeldOutRuns, measureSearchedRuns } from "./measure-candidate.js";
import type { ReplayEnd, SearchCandidateRow, SearchInputRow, SearchRow } from "./search.js";

/** What is stored of a candidate once its replays ended: their ends, and its figures (`measure-candidate.ts`). */

/** What figures are measured with. */
export interface Measuring {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly search: SearchRow;
  readonly input: SearchInputRow;
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

/** The candidate with the pairs of its replays as they are now: all that changes of its figures once these have ended. */
export function measurePairs(
  { reading, workspaceId }: Pick<Measuring, "reading" | "workspaceId">,
  candidate: SearchCandidateRow,
): SearchCandidateRow {
  const { replayId, heldOutReplayId, searched, heldOut } = candidate;
  const pairsOf = (id: string | null) =>
    id === null || replays.get(reading, workspaceId, id) === undefined
      ? null
      : tallyPairs(listReplayedCopies(reading, workspaceId, id));
  const searchedPairs = searched === null ? null : pairsOf(replayId);
  const heldOutPairs = heldOut === null ? null : pairsOf(heldOutReplayId);
  return {
    ...candidate,
    searched: searched === null || searchedPairs === null ? searched : { ...searched, searchedPairs },
    heldOut: heldOut === null || heldOutPairs === null ? heldOut : { ...heldOut, heldOutPairs },
  };
}

/** The candidate with figures of the replays of it that have ended. What is known stays where a replay is gone since. */
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
