import type { EventWith } from "../../../runtime/cells/chart.js";
import type { Delivered, Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { subtract } from "../../fraction.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import { storeSkills } from "../../lines/run-setup.js";
import { amountIn } from "../../money.js";
import type { Refusal } from "../../refusal.js";
import { addToBudget } from "../../replays/budget/search-budget.js";
import { listConfigChanges } from "../../replays/candidates/config-changes.js";
import { recordSearched } from "../../replays/candidates/made-candidate.table.js";
import { toJudgeModel } from "../../replays/candidates/station-config.js";
import { recordRequest } from "../../resources/repeated-request.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import { type EndRun, runRef } from "../../runs/run.messages.js";
import type { AdmittedCandidate } from "../candidates/admit-candidates.js";
import { listCandidates, searchCandidateInputs, searchCandidates } from "../candidates/search-candidate.table.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "../search/search.js";
import { searchRef } from "../search/search.messages.js";
import { getSearchInput, searches } from "../search/search.table.js";
import { queueAgent } from "./agent-run.js";
import { countIteration } from "./iteration-spending.js";
import type {
  CandidatesProposed,
  CauseRecorded,
  ForgetIteration,
  ProposeCandidates,
  RecordCause,
} from "./search-iteration.messages.js";
import { findIteration, searchIterations } from "./search-iteration.table.js";

/** The actions of an iteration's transitions. `search-iteration.machine.ts` defines when they run. */

/** How long the agent's run may wait for a runner before the iteration fails, in milliseconds. */
const UNCLAIMED_MS = 24 * 60 * 60 * 1_000;

/** Name of the wake-up after {@link UNCLAIMED_MS}. */
const UNCLAIMED = "unclaimed";

/** An iteration with its search. */
export interface IterationScene {
  readonly search: SearchRow;
  readonly iteration: SearchIterationRow;
}

function getRow(turn: Turn): SearchIterationRow {
  const row = findIteration(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("an iteration without its row");
  return row;
}

function getSearch(turn: Turn, { searchId }: SearchIterationRow): SearchRow {
  const row = searches.get(turn, turn.self.partition, searchId);
  if (row === undefined) throw new Error("an iteration without its search");
  return row;
}

function putRow(turn: Turn, change: Partial<SearchIterationRow>): void {
  const before = getRow(turn);
  searchIterations.put(turn, turn.self.partition, before, { ...before, ...change });
}

/** Queues the agent's run, and sets a wake-up to check after a day whether a runner claimed it. */
export function wantAgent(turn: Turn): void {
  const row = getRow(turn);
  const search = getSearch(turn, row);
  const input = getSearchInput(turn, turn.self.partition, search.id);
  putRow(turn, { state: "wanted", runId: queueAgent(turn, { search, input }, row) });
  turn.wake(UNCLAIMED, turn.now + UNCLAIMED_MS);
}

/** Applies a runner's claim of the run. The search counts the iteration once, however many runners are lost. */
export function takeAgent(turn: Turn): void {
  const row = getRow(turn);
  turn.cancelWake(UNCLAIMED);
  putRow(turn, { state: "running", startedAt: row.startedAt ?? new Date(turn.now).toISOString() });
  if (row.startedAt !== null) return;
  const search = getSearch(turn, row);
  searches.put(turn, turn.self.partition, search, { ...search, iterationsRun: search.iterationsRun + 1 });
}

/** Writes the reported cost of the iteration's runs, and adds it to the search's budget. */
export function countAgent(turn: Turn, after: SearchIterationRow): void {
  const before = getRow(turn);
  const { currency } = getSearch(turn, before).budget.ceiling;
  const spent = subtract(amountIn(after.agentSpent, currency), amountIn(before.agentSpent, currency));
  const counted = subtract(countIteration(after), countIteration(before));
  putRow(turn, after);
  addToBudget(turn, before.searchId, { counted, spent });
}

/** Ends the iteration and notifies its search. */
export function endIteration(turn: Turn, state: "ended" | "failed", reason?: string): void {
  turn.cancelWake(UNCLAIMED);
  putRow(turn, { state, endedAt: new Date(turn.now).toISOString(), ...(reason === undefined ? {} : { reason }) });
  turn.send(searchRef(turn.self.partition, getRow(turn).searchId), { type: "iteration.over" });
}

/** Withdraws the iteration's run, and fails the iteration. */
export function withdrawAgent(turn: Turn, reason: string): void {
  const { runId } = getRow(turn);
  const end: EndRun = { type: "run.end", outcome: "withdrawn", reason };
  if (runId !== null) turn.send(runRef(turn.self.partition, runId), end);
  endIteration(turn, "failed", reason);
}

/** Refuses a proposal. A refused proposal also counts as an attempt. */
export function refuseProposal(turn: Turn<Refusal>, refusal: Refusal): void {
  putRow(turn, { attempts: getRow(turn).attempts + 1 });
  turn.reply(refusal);
}

/** Writes the admitted candidates, and notifies the search, which then replays the candidates. */
export function admit(
  event: EventWith<ProposeCandidates>,
  admitted: readonly AdmittedCandidate[],
  judging: JudgingSetup,
): void {
  const { turn } = event;
  const { partition } = turn.self;
  const row = getRow(turn);
  const search = getSearch(turn, row);
  const candidateIds = admitted.map((each) => insertCandidate(turn, { search, row, judging }, each));
  const proposed = [...row.proposed, ...candidateIds];
  putRow(turn, { attempts: row.attempts + 1, proposed });
  searches.put(turn, partition, search, { ...search, proposed: search.proposed + admitted.length });
  turn.send(searchRef(partition, search.id), { type: "candidates.admitted" });
  recordRequest(turn, event, candidateIds.join(" "));
  turn.reply(answerProposal(turn, { search, iteration: getRow(turn) }, candidateIds, false));
}

/** Returns the answer for admitted candidates, given the candidates' ids. */
export function answerProposal(
  turn: TurnReading,
  { search, iteration }: IterationScene,
  candidateIds: readonly string[],
  replayed: boolean,
): CandidatesProposed {
  const rows = listCandidates(turn, turn.self.partition, search.id);
  const admitted = rows.filter(({ candidateId }) => candidateIds.includes(candidateId));
  return {
    candidates: admitted.map(({ candidateId, name, fingerprint }) => ({ candidateId, name, fingerprint })),
    left: search.budget.perIteration - iteration.proposed.length,
    replayed,
  };
}

interface Admitting {
  readonly search: SearchRow;
  readonly row: SearchIterationRow;
  readonly judging: JudgingSetup;
}

function insertCandidate(
  turn: Turn,
  { search, row, judging }: Admitting,
  { proposal, config, fingerprints }: AdmittedCandidate,
): string {
  const { partition } = turn.self;
  const { teamId, id: searchId } = search;
  const { name, hypothesis, station } = proposal;
  const { fingerprint, runningFingerprint, scoringFingerprint } = fingerprints;
  const candidateId = turn.newId("cand");
  const input = getSearchInput(turn, partition, searchId);
  storeSkills(turn, { workspaceId: partition, teamKey: getTeamKey(turn, partition, teamId) }, station.skills);
  const candidate: SearchCandidateRow = {
    searchId,
    candidateId,
    name,
    seed: false,
    iteration: row.number,
    hypothesis,
    fingerprint,
    runningFingerprint,
    scoringFingerprint,
    changes: listConfigChanges(input.config, config),
    replayId: null,
    heldOutReplayId: null,
    replayEnded: null,
    heldOutEnded: null,
    searched: null,
    heldOut: null,
    admittedAt: new Date(turn.now).toISOString(),
  };
  searchCandidates.insert(turn, partition, candidate);
  const { passesTo, alerts, runners } = station;
  const block = { name: station.name, passesTo, alerts, runners };
  const judgeModel = toJudgeModel(config, judging);
  searchCandidateInputs.insert(turn, partition, { searchId, candidateId, config, block, judgeModel });
  recordSearched(turn, { candidateId, teamId, searchId });
  return candidateId;
}

/** Records the cause of a task's failure; a second cause replaces the first. */
export function recordCause(event: EventWith<RecordCause>): void {
  const { turn, taskId, cause, evidence, suggestion } = event;
  const { reflection } = getRow(turn);
  const task = reflection?.tasks.find((each) => each.taskId === taskId);
  if (reflection === null || task === undefined) throw new Error("a cause of a task that is not looked into");
  const recordedAt = new Date(turn.now).toISOString();
  const others = reflection.causes.filter((each) => each.taskId !== taskId);
  putRow(turn, {
    reflection: { ...reflection, causes: [...others, { ...task, cause, evidence, suggestion, recordedAt }] },
  });
  recordRequest(turn, event, taskId);
  const answer: CauseRecorded = { taskId, cause, replayRunId: task.replayRunId, replayed: false };
  turn.reply(answer);
}

/** Removes the iteration's runs. The search has already removed the iteration's rows. */
export function forgetIteration({ turn, runIds }: Delivered<ForgetIteration>): void {
  for (const runId of runIds) turn.send(runRef(turn.self.partition, runId), { type: "run.forget" });
  turn.stop();
}
