import type { EventWith } from "../../../runtime/cells/chart.js";
import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { type FieldError, isRefusal, type Refusal } from "../../refusal.js";
import { freeReplayQuota } from "../../replays/budget/replay-quota.js";
import { openBudget } from "../../replays/budget/search-budget.js";
import { toJudgeModel } from "../../replays/candidates/station-config.js";
import type { ReplayJudging } from "../../replays/judging/model-terms.js";
import type { ReplayRow } from "../../replays/replay/replay.js";
import { ReplayMemory } from "../../replays/replay/replay-memory.js";
import type { ReplaySetRow } from "../../replays/sets/replay-set.js";
import { findStationById, refusePlanner, setNotFound } from "../../replays/sets/replay-set.queries.js";
import { replaySets } from "../../replays/sets/replay-set.table.js";
import { stationLeft } from "../../replays/sets/replay-set.transitions.js";
import { planLive } from "../../replays/starting/live-replay.js";
import { orderReplay } from "../../replays/starting/replay-plan.js";
import { refuseMore } from "../../replays/starting/start-refusals.js";
import { findStartingPoint, type StartingPoint } from "../../replays/starting/starting-point.js";
import { recordChange } from "../../resources/change-record.table.js";
import { findRequestBefore, recordRequest } from "../../resources/repeated-request.js";
import { listHarnesses } from "../../runners/runner.table.js";
import { pin } from "../../tables/pins.js";
import { SEED } from "../agent/refuse-proposals.js";
import { searchCandidates } from "../candidates/search-candidate.table.js";
import { limitSearchLane, watchSearchReplay } from "../candidates/search-replays.js";
import { type Allotments, allotBudget } from "../rules/allotments.js";
import { defaultObjective, type Objective } from "../rules/objective.js";
import { splitTasks } from "../rules/split.js";
import { listWarnings, type SearchWarning } from "../rules/warnings.js";
import type { SearchAgent, SearchCandidateRow, SearchInputRow, SearchRow, SearchSplit } from "../search/search.js";
import type { SearchStarted, StartSearch } from "../search/search.messages.js";
import { findSearchUnderWay, searches, searchInputs } from "../search/search.table.js";
import { type BasisEntry, readSearchBasis } from "../search/search-basis.js";
import { removeOldestSearches } from "../search/search-quota.js";
import { refuseBudget, refuseForSet, toObjective, toSearchAgent } from "./refuse-terms.js";

/** The data from which a search starts. */
interface SearchStart {
  readonly point: StartingPoint;
  readonly split: SearchSplit;
  readonly allotments: Allotments;
  readonly agent: SearchAgent;
  readonly objective: Objective;
  readonly minGain: number;
  readonly warnings: readonly SearchWarning[];
}

/**
 * The result of a start request. Either the search starts, or an earlier request with the same key already started a
 * search, or the request is refused.
 */
type StartOutcome =
  | { readonly outcome: "starts"; readonly start: SearchStart }
  | { readonly outcome: "repeated"; readonly answer: SearchStarted | Refusal }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

/** Determines whether a search may start. Checks for refusals in the order of document 2. Only reads. */
export function prepareSearch(turn: TurnReading, message: StartSearch, judging: ReplayJudging): StartOutcome {
  const refused = (refusal: Refusal): StartOutcome => ({ outcome: "refused", refusal });
  const denied = refusePlanner(turn, message.caller, message.teamId);
  if (denied !== null) return refused(denied);
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refused(before);
  if (before !== null) return { outcome: "repeated", answer: answerAgain(turn, before) };
  const set = findSet(turn, message);
  if (isRefusal(set)) return refused(set);
  const { partition } = turn.self;
  if (findSearchUnderWay(turn, partition, message) !== undefined) return refused(beingSearched);
  const point = findStartingPoint(turn, set, judging);
  if (point === undefined) return refused(stationLeft);
  const full = refuseMore(turn, set);
  if (full !== null) return refused(full);
  const start = checkTerms(turn, message, { point, judging });
  return isRefusal(start) ? refused(start) : { outcome: "starts", start };
}

const beingSearched: Refusal = {
  refused: "conflict",
  detail: "A search of the station is running. Stop it first, or wait until it has ended.",
};

/**
 * Returns the set if it belongs to the station. Also returns a set whose station left its line; a later check refuses
 * such a set.
 */
function findSet(turn: TurnReading, message: StartSearch): ReplaySetRow | Refusal {
  const { teamId, lineId, stationId, terms } = message;
  const { partition } = turn.self;
  const found = replaySets.get(turn, partition, terms.setId);
  const isOfStation = found?.teamId === teamId && found.lineId === lineId && found.stationId === stationId;
  if (found !== undefined && isOfStation) return found;
  const station = findStationById(turn, { workspaceId: partition, teamId }, { lineId, stationId });
  return isRefusal(station) ? station : setNotFound(terms.setId);
}

/** Returns the data for the start. Refuses invalid terms. */
function checkTerms(
  turn: TurnReading,
  { terms }: StartSearch,
  { point, judging }: { readonly point: StartingPoint; readonly judging: ReplayJudging },
): SearchStart | Refusal {
  const { partition } = turn.self;
  const agent = toSearchAgent(terms.agent, listHarnesses(turn, partition));
  const objective = toObjective(terms.objective);
  const faults: FieldError[] = [...refuseBudget(terms.budget)];
  if ("faults" in agent) faults.push(...agent.faults);
  if (objective === undefined) faults.push({ path: "objective", message: "must be success or cost" });
  if ("faults" in agent || objective === undefined || faults.length > 0) return { refused: "invalid", errors: faults };
  const basis = readSearchBasis(turn, partition, point.set, { judging, memory: new ReplayMemory() });
  const errors = refuseForSet(basis.entries, terms.budget);
  const split = splitTasks(point.set.id, basis.entries);
  if (errors.length > 0 || split === null) return { refused: "invalid", errors };
  const { health, minGain, lacksModel } = basis;
  const ranked = { health, minGain, lacksModel, objective: objective ?? defaultObjective(health) };
  return {
    point,
    agent,
    minGain,
    objective: ranked.objective,
    split: { searched: split.searched.map(toSplitRun), heldOut: split.heldOut.map(toSplitRun) },
    allotments: allotBudget(terms.budget, split),
    warnings: listWarnings({ ...ranked, budget: terms.budget, split }),
  };
}

function toSplitRun({ runId, taskId }: BasisEntry) {
  return { runId, taskId };
}

function answerAgain(turn: TurnReading, searchId: string): SearchStarted | Refusal {
  const row = searches.get(turn, turn.self.partition, searchId);
  const input = searchInputs.get(turn, turn.self.partition, searchId);
  if (row !== undefined && input !== undefined) return toAnswer(row, input, true);
  return { refused: "conflict", detail: "The search that this Idempotency-Key started has been removed." };
}

function toAnswer(
  { id: searchId, seedReplayId, objective }: SearchRow,
  { warnings }: SearchInputRow,
  replayed: boolean,
): SearchStarted {
  return { searchId, seedReplayId, objective, warnings, replayed };
}

/**
 * Starts a search that {@link prepareSearch} allowed, and answers. If the set has no space for the seed's replay,
 * answers with a refusal and stores nothing.
 */
export function answerStart(event: EventWith<StartSearch>, start: SearchStart, judging: ReplayJudging): void {
  const answer = startSearch(event, start, judging);
  event.turn.reply(answer);
  if (isRefusal(answer)) event.turn.stop();
}

/**
 * Starts this turn's search: writes its rows and input, creates its budget and lane, and starts a replay of the live
 * config. This replay becomes the set's baseline. Refuses if the set has no space for another replay.
 */
function startSearch(
  event: EventWith<StartSearch>,
  start: SearchStart,
  judging: ReplayJudging,
): SearchStarted | Refusal {
  const { turn, terms } = event;
  const { partition, id: searchId } = turn.self;
  const { point, allotments } = start;
  const full = freeReplayQuota(turn, point.set, { count: 1, beside: null });
  if (full !== null) return full;
  removeOldestSearches(turn, point.set);
  openBudget(turn, { searchId, ceiling: terms.budget.ceiling });
  limitSearchLane(turn, searchId, terms.budget.concurrency);
  const search = { searchId, candidateName: SEED };
  const plan = planLive(turn, point, judging, { repeats: terms.budget.repeats, ceiling: allotments.seed, search });
  const seed = orderReplay(turn, plan);
  pin(turn, partition, { of: replaySets.name, id: point.set.id, by: searchId });
  watchSearchReplay(turn, seed.id);
  const row = toRow(event, start, seed);
  searches.insert(turn, partition, row);
  const input = toInput(turn, start, judging);
  searchInputs.insert(turn, partition, input);
  searchCandidates.insert(turn, partition, toSeed(searchId, seed));
  recordSearch(turn, row, { ...event, action: "created" });
  recordRequest(turn, event, searchId);
  return toAnswer(row, input, false);
}

function toRow({ turn, terms }: EventWith<StartSearch>, start: SearchStart, seed: ReplayRow): SearchRow {
  const { agent, objective, minGain, point } = start;
  const { teamId, lineId, stationId, stationKey, id: setId, version: setVersion } = point.set;
  const { iterations, perIteration, ceiling, concurrency, repeats } = terms.budget;
  return {
    id: turn.self.id,
    teamId,
    lineId,
    stationId,
    stationKey,
    setId,
    setVersion,
    state: "seeding",
    ending: null,
    agent,
    objective,
    minGain,
    seedCandidateId: seed.candidate.id,
    seedReplayId: seed.id,
    budget: { iterations, perIteration, ceiling, concurrency, repeats },
    iterationsRun: 0,
    proposed: 0,
    best: null,
    startedAt: new Date(turn.now).toISOString(),
    endedAt: null,
  };
}

function toInput(
  turn: Turn,
  { point, split, allotments, warnings }: SearchStart,
  judging: ReplayJudging,
): SearchInputRow {
  const { live: config, station, line, fingerprints } = point;
  const { name, passesTo, alerts, runners } = station;
  return {
    searchId: turn.self.id,
    config,
    block: { name, passesTo, alerts, runners },
    ...fingerprints,
    judgeModel: toJudgeModel(config, judging),
    split,
    allotments,
    warnings,
    line: { key: line.key, name: line.name },
  };
}

function toSeed(searchId: string, { id, candidate, createdAt, ...seed }: ReplayRow): SearchCandidateRow {
  const { fingerprint, runningFingerprint, scoringFingerprint } = seed;
  return {
    searchId,
    candidateId: candidate.id,
    name: SEED,
    seed: true,
    iteration: null,
    hypothesis: null,
    changes: [],
    fingerprint,
    runningFingerprint,
    scoringFingerprint,
    replayId: id,
    heldOutReplayId: null,
    replayEnded: null,
    heldOutEnded: null,
    searched: null,
    heldOut: null,
    admittedAt: createdAt,
  };
}

/** Records the start or stop of a search in the change log. */
export function recordSearch(
  turn: Turn,
  { id, setId, teamId, objective }: SearchRow,
  { caller, client, action }: Pick<StartSearch, "caller" | "client"> & { readonly action: "created" | "updated" },
): void {
  const change = { resource: "replay-search", resourceId: id, key: id, action } as const;
  const details = { setId, objective, state: action === "created" ? "seeding" : "stopped" };
  recordChange(turn, { ...change, caller, client, details }, teamId);
}
