import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import { configPullRequestRef } from "../../config-pull-requests/config-pull-request.messages.js";
import { findPullRequestByCandidate } from "../../config-pull-requests/config-pull-request.table.js";
import { searchBudgets } from "../../replays/budget/search-budget.table.js";
import { removeSearched } from "../../replays/candidates/made-candidate.table.js";
import { unwatchReplay } from "../../replays/replay/replay-watcher.table.js";
import { recordRequest } from "../../resources/repeated-request.js";
import { removePins } from "../../tables/pins.js";
import { searchCandidateInputs, searchCandidates } from "../candidates/search-candidate.table.js";
import {
  endReplays,
  limitSearchLane,
  listReplays,
  orderCandidate,
  releaseReplays,
  stopReplayCheck,
} from "../candidates/search-replays.js";
import { searchIterationRef } from "../iterations/search-iteration.messages.js";
import { searchIterations } from "../iterations/search-iteration.table.js";
import { searchTopic } from "../reads/search-changes.js";
import { chooseBest } from "../rules/best.js";
import type { NextStep } from "../rules/decide-next.js";
import type { SearchEnding } from "../rules/ending.js";
import { type Contender, onlyOnSeenTasks } from "../rules/ranking.js";
import { recordSearch } from "../starting/start-search.js";
import {
  type BestCandidate,
  isSearchUnderWay,
  type SearchCandidateRow,
  type SearchIterationRow,
  type SearchRow,
} from "./search.js";
import { type StopSearch, searchRef } from "./search.messages.js";
import { searches, searchInputs } from "./search.table.js";
import { findFailures, readScene, type SearchScene } from "./search-snapshot.js";

/** The actions of a search's transitions. `search.machine.ts` defines when they run. */

/** Name of the wake-up at which a search continues by itself. */
const GO_ON = "go-on";

/** A row before and after a message. */
export interface RowChange<Row> {
  readonly before: Row;
  readonly after: Row;
}

/** The changes that follow from a message, and the next steps. */
interface SearchSteps {
  /** Candidates whose replays ended, with their figures. */
  readonly candidates: readonly RowChange<SearchCandidateRow>[];
  /** Reflections that ended, with their outcomes. */
  readonly iterations: readonly RowChange<SearchIterationRow>[];
  readonly steps: readonly NextStep[];
}

/** Returns the search's row, which exists from the start of the search until its removal. */
function getSearchRow(turn: Turn): SearchRow {
  const row = searches.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a search without its row");
  return row;
}

function putSearch(turn: Turn, change: Partial<SearchRow>): void {
  const before = getSearchRow(turn);
  searches.put(turn, turn.self.partition, before, { ...before, ...change });
}

/** Writes the changes, and takes the steps that follow. */
export function takeSteps(turn: Turn, { candidates, iterations, steps }: SearchSteps): void {
  for (const change of candidates) putCandidate(turn, change);
  for (const { before, after } of iterations) searchIterations.put(turn, turn.self.partition, before, after);
  if (candidates.length > 0) noteBest(turn);
  for (const step of steps) takeStep(turn, step);
}

/** Writes a changed candidate. Stops the idleness checks of its replays that have ended. */
export function putCandidate(turn: Turn, { before, after }: RowChange<SearchCandidateRow>): void {
  searchCandidates.put(turn, turn.self.partition, before, after);
  if (before.replayEnded === null && after.replayEnded !== null && after.replayId !== null) {
    stopReplayCheck(turn, after.replayId);
  }
  if (before.heldOutEnded === null && after.heldOutEnded !== null && after.heldOutReplayId !== null) {
    stopReplayCheck(turn, after.heldOutReplayId);
  }
}

function noteBest(turn: Turn): void {
  const { candidates, search } = readScene(turn, getSearchRow(turn));
  const best = chooseBest(candidates.map(toContender), search.objective);
  const row = candidates.find(({ candidateId }) => candidateId === best?.contender.candidateId);
  putSearch(turn, { best: row === undefined ? null : toBest(row), bestBecause: best?.because ?? null });
}

/** Returns the fields of a candidate that its rank depends on. */
function toContender({ candidateId, seed, replayEnded, searched, heldOut }: SearchCandidateRow): Contender {
  return { candidateId, seed, replayState: replayEnded, searched, heldOut };
}

function toBest(row: SearchCandidateRow): BestCandidate {
  const { candidateId, name, seed, searched, heldOut } = row;
  return {
    candidateId,
    name,
    seed,
    searchScore: searched?.searchScore ?? null,
    searchInterval: searched?.searchInterval ?? null,
    searchTasks: searched?.searchTasks ?? 0,
    heldOutScore: heldOut?.heldOutScore ?? null,
    heldOutInterval: heldOut?.heldOutInterval ?? null,
    heldOutTasks: heldOut?.heldOutTasks ?? 0,
    costPerRun: searched?.costPerRun ?? null,
    onlyOnSeenTasks: onlyOnSeenTasks(row),
  };
}

function takeStep(turn: Turn, step: NextStep): void {
  if (step.step === "wait") return;
  const scene = readScene(turn, getSearchRow(turn));
  switch (step.step) {
    case "replay":
      putSearch(turn, { state: "searching" });
      return replayCandidate(turn, scene, step, "searched");
    case "hold-out":
      putSearch(turn, { state: "holding-out", ending: step.ending });
      return replayCandidate(turn, scene, step, "heldOut");
    case "propose":
    case "reflect":
      putSearch(turn, { state: "searching" });
      return beginIteration(turn, scene, step);
    case "end":
      return endSearch(turn, scene, step);
  }
}

/**
 * Starts a replay of a candidate. If the set has no space for another replay, the candidate's row records the replay as
 * stopped, and the search continues in another turn.
 */
function replayCandidate(
  turn: Turn,
  { search, input, candidates }: SearchScene,
  { candidateId, ceiling }: Extract<NextStep, { readonly step: "replay" | "hold-out" }>,
  of: "searched" | "heldOut",
): void {
  const candidate = candidates.find((each) => each.candidateId === candidateId);
  if (candidate === undefined) throw new Error("a replay of no candidate");
  const replay = orderCandidate(turn, search, input, { candidate, of, ceiling });
  const put = (more: Partial<SearchCandidateRow>) =>
    searchCandidates.put(turn, turn.self.partition, candidate, { ...candidate, ...more });
  if (replay === null) {
    put(of === "searched" ? { replayEnded: "stopped" } : { heldOutEnded: "stopped" });
    turn.wake(GO_ON, turn.now);
  } else put(of === "searched" ? { replayId: replay.id } : { heldOutReplayId: replay.id });
}

/** Starts an iteration. A reflection without failures to investigate ends at once, without a run of the agent. */
function beginIteration(
  turn: Turn,
  scene: SearchScene,
  step: Extract<NextStep, { readonly step: "propose" | "reflect" }>,
): void {
  const { search, iterations } = scene;
  const standing = step.step === "reflect" ? search.seedCandidateId : null;
  const tasks = standing === null ? [] : findFailures(turn, scene);
  const isOver = standing !== null && tasks.length === 0;
  const now = new Date(turn.now).toISOString();
  const row: SearchIterationRow = {
    id: turn.newId("siter"),
    searchId: search.id,
    number: iterations.length + 1,
    kind: step.step,
    state: isOver ? "ended" : "wanted",
    runId: null,
    lostRunIds: [],
    attempts: 0,
    proposed: [],
    allotted: step.allotted,
    agentSpent: null,
    unpriced: false,
    reason: null,
    reflection: standing === null ? null : { standing, tasks, causes: [], outcome: isOver ? "no-failures" : null },
    wantedAt: now,
    startedAt: null,
    endedAt: isOver ? now : null,
  };
  searchIterations.insert(turn, turn.self.partition, row);
  if (isOver) return;
  turn.send(searchIterationRef(turn.self.partition, row.id), { type: "iteration.begin" });
}

/**
 * Ends the search. If the end state is `stopped`, also ends the search's iterations and replays. If the end state is
 * `finished`, the pairs of the search's replays are still judged.
 */
function endSearch(
  turn: Turn,
  { search, candidates, iterations }: SearchScene,
  { state, ending }: { readonly state: "finished" | "stopped"; readonly ending: SearchEnding },
): void {
  const { partition } = turn.self;
  if (state === "stopped") {
    for (const { id, state: its } of iterations) {
      if (its === "wanted" || its === "running")
        turn.send(searchIterationRef(partition, id), { type: "iteration.stop" });
    }
    endReplays(turn, candidates);
  }
  releaseReplays(turn, search, candidates);
  limitSearchLane(turn, search.id, null);
  turn.cancelWake(GO_ON);
  putSearch(turn, { state, ending, endedAt: new Date(turn.now).toISOString() });
}

/** Stops the search in any running state. */
export function stopSearch(event: Delivered<StopSearch>): void {
  const { turn, caller, client } = event;
  const search = getSearchRow(turn);
  endSearch(turn, readScene(turn, search), { state: "stopped", ending: "stopped" });
  if (caller !== null) recordSearch(turn, search, { caller, client, action: "updated" });
  recordRequest(turn, event, search.id);
  turn.reply({ replayed: false });
}

/** Removes this turn's search with its iterations and candidates. Its replays stay with their set. */
export function removeSearch(turn: Turn): void {
  const { partition, id } = turn.self;
  const search = searches.get(turn, partition, id);
  if (search !== undefined) {
    const scene = readScene(turn, search);
    if (isSearchUnderWay(search)) endSearch(turn, scene, { state: "stopped", ending: "stopped" });
    for (const replayId of scene.candidates.flatMap(listReplays)) {
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
    searchBudgets.remove(turn, partition, id);
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
  if (findPullRequestByCandidate(turn, partition, candidateId) !== undefined) {
    turn.send(configPullRequestRef(partition, candidateId), { type: "pull-request.forget" });
  }
}
