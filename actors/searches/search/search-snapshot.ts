import type { TurnReading } from "../../../runtime/turns/turn.js";
import { toText, ZERO } from "../../fraction.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import { countSpent } from "../../replays/budget/replay-ceiling.js";
import { searchBudgets } from "../../replays/budget/search-budget.table.js";
import { findLiveFingerprints } from "../../replays/candidates/station-config.js";
import { listCopies } from "../../replays/copies/replay-copy.table.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import { isUnderWay, replays } from "../../replays/replay/replay.table.js";
import { replaySets } from "../../replays/sets/replay-set.table.js";
import { listCandidates } from "../candidates/search-candidate.table.js";
import { listReplays } from "../candidates/search-replays.js";
import { countIteration } from "../iterations/iteration-spending.js";
import { listIterations } from "../iterations/search-iteration.table.js";
import type { SearchSpending, UnderWay } from "../rules/ceiling.js";
import type { SearchSnapshot, SnapshotCandidate, SnapshotIteration } from "../rules/decide-next.js";
import { type FailedTask, findFailedTasks } from "../rules/reflection.js";
import type { SearchCandidateRow, SearchInputRow, SearchIterationRow, SearchRow } from "./search.js";
import { isSearchUnderWay } from "./search.js";
import { getSearchInput } from "./search.table.js";

/** The rows of a search in a turn. */
export interface SearchScene {
  readonly search: SearchRow;
  readonly input: SearchInputRow;
  /** The seed first, then in the order of admission. */
  readonly candidates: readonly SearchCandidateRow[];
  readonly iterations: readonly SearchIterationRow[];
}

/** Reads the current rows of the search. */
export function readScene(turn: TurnReading, search: SearchRow): SearchScene {
  const { partition } = turn.self;
  return {
    search,
    input: getSearchInput(turn, partition, search.id),
    candidates: listCandidates(turn, partition, search.id),
    iterations: listIterations(turn, partition, search.id),
  };
}

/** Builds the snapshot that decides the next step (`rules/decide-next.ts`). The search must be running. */
export function toSnapshot(turn: TurnReading, scene: SearchScene, judging: JudgingSetup): SearchSnapshot {
  const { search, input, candidates, iterations } = scene;
  const { state, ending, budget, objective } = search;
  if (!isSearchUnderWay(search) || state === "finished" || state === "stopped") throw new Error("a search that ended");
  return {
    state,
    ending,
    budget,
    objective,
    allotments: input.allotments,
    spending: toSpending(turn, scene),
    live: findLive(turn, search, input, judging),
    candidates: candidates.map((candidate) => toSnapshotCandidate(turn, candidate)),
    iterations: iterations.map(toSnapshotIteration),
  };
}

function toSnapshotCandidate(turn: TurnReading, candidate: SearchCandidateRow): SnapshotCandidate {
  const { candidateId, seed, iteration, searched, heldOut } = candidate;
  return {
    candidateId,
    seed,
    iteration,
    searched,
    heldOut,
    replayState: candidate.replayEnded ?? findState(turn, candidate.replayId),
    heldOutReplayState: candidate.heldOutEnded ?? findState(turn, candidate.heldOutReplayId),
  };
}

function findState(turn: TurnReading, replayId: string | null): ReplayState | null {
  return replayId === null ? null : (replays.get(turn, turn.self.partition, replayId)?.state ?? "stopped");
}

function toSnapshotIteration({ number, kind, state, proposed, reflection }: SearchIterationRow): SnapshotIteration {
  return { number, kind, state, admitted: proposed.length, outcome: reflection?.outcome ?? null };
}

/**
 * Compares the station's current config with the config at the start of the search:
 * - `unchanged`: the running and scoring fingerprints are equal.
 * - `gone`: the station left its line, or the set is gone.
 * - `changed`: all other cases.
 */
function findLive(
  turn: TurnReading,
  search: SearchRow,
  { runningFingerprint, scoringFingerprint }: SearchInputRow,
  judging: JudgingSetup,
): SearchSnapshot["live"] {
  const { partition } = turn.self;
  const live = findLiveFingerprints(turn, partition, search, judging);
  if (live === undefined || replaySets.get(turn, partition, search.setId) === undefined) return "gone";
  const isSame = live.runningFingerprint === runningFingerprint && live.scoringFingerprint === scoringFingerprint;
  return isSame ? "unchanged" : "changed";
}

/** Returns the spending of the search, including work in progress. */
function toSpending(turn: TurnReading, { search, candidates, iterations }: SearchScene): SearchSpending {
  const { partition } = turn.self;
  const { ceiling } = search.budget;
  const ofReplays = candidates.flatMap(listReplays).flatMap((replayId): UnderWay[] => {
    const replay = replays.get(turn, partition, replayId);
    if (replay === undefined || !isUnderWay(replay)) return [];
    return [{ allotted: replay.ceiling, counted: toText(countSpent(replay)) }];
  });
  const ofAgent = iterations.flatMap((iteration): UnderWay[] => {
    if (iteration.state !== "wanted" && iteration.state !== "running") return [];
    return [{ allotted: iteration.allotted, counted: toText(countIteration(iteration)) }];
  });
  const counted = searchBudgets.get(turn, partition, search.id)?.counted ?? toText(ZERO);
  return { ceiling, counted, underWay: [...ofReplays, ...ofAgent] };
}

/** Lists the searched tasks that the seed failed, for a reflection to investigate. */
export function findFailures(turn: TurnReading, { search, input }: SearchScene): readonly FailedTask[] {
  const runs = input.split.searched.map(({ runId }) => runId);
  const copies = listCopies(turn, turn.self.partition, search.seedReplayId);
  return findFailedTasks(
    copies.filter(({ originalRunId }) => runs.includes(originalRunId)),
    runs,
  );
}
