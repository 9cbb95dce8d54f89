import type { TurnReading } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { MAX_ATTEMPTS } from "../replays/copy-result.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { addReported } from "../replays/replay-ceiling.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import type { RunRow } from "../runs/run.js";
import type { RunOver } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { admitCandidates } from "./admit-candidates.js";
import { recordsNone } from "./agent/cause.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "./search.js";
import { getSearchInput, searches } from "./search.table.js";
import { listCandidates } from "./search-candidate.table.js";
import type {
  CandidatesProposed,
  CauseRecorded,
  HeldRun,
  ProposeCandidates,
  RecordCause,
} from "./search-iteration.messages.js";
import { findIteration } from "./search-iteration.table.js";
import type { IterationEvent, IterationIncoming } from "./search-iteration-events.js";

/** Most times that the agent of an iteration may propose. */
const MAX_PROPOSALS = 100;

const OTHER: IterationEvent = { type: "iteration.other" };

/** An iteration with its search. */
interface Scene {
  readonly search: SearchRow;
  readonly iteration: SearchIterationRow;
}

/** The event of each message to an iteration. Reads only. */
export function classifyIteration(judging: ReplayJudging) {
  return (message: IterationIncoming, _state: unknown, turn: TurnReading): IterationEvent => {
    const scene = findScene(turn);
    switch (message.type) {
      case "candidates.propose":
        return toProposal(turn, scene, message, judging);
      case "cause.record":
        return toCause(turn, scene, message);
      case "iteration.forget":
        return message;
      case "iteration.begin":
        return scene === undefined ? OTHER : message;
      case "iteration.stop":
        return scene !== undefined && isUnderWay(scene.iteration) ? message : OTHER;
      case "run.claimed":
        return isAwaited(scene, message.runId) ? { type: "agent.taken" } : OTHER;
      case "run.over":
        return scene === undefined ? OTHER : toOver(turn, scene, message);
      case "woken":
        return scene?.iteration.state === "wanted" ? { type: "agent.unclaimed" } : OTHER;
      case "run.began":
      case "run.asking":
      case "note":
        return OTHER;
      // No transition takes a message of an unknown type.
      default:
        return message;
    }
  };
}

function findScene(turn: TurnReading): Scene | undefined {
  const { partition, id } = turn.self;
  const iteration = findIteration(turn, partition, id);
  const search = iteration === undefined ? undefined : searches.get(turn, partition, iteration.searchId);
  return iteration === undefined || search === undefined ? undefined : { search, iteration };
}

/** Whether it waits for a runner to take this run. */
function isAwaited(scene: Scene | undefined, runId: string): boolean {
  return scene?.iteration.state === "wanted" && scene.iteration.runId === runId;
}

function isUnderWay({ state }: SearchIterationRow): boolean {
  return state === "wanted" || state === "running";
}

/** The run is over. One whose runner was lost is run again, twice at most, unless nothing is left for it to say. */
function toOver(turn: TurnReading, { search, iteration }: Scene, { runId }: RunOver): IterationEvent {
  const run = runs.get(turn, turn.self.partition, runId);
  if (run === undefined || runId !== iteration.runId) return OTHER;
  const row = addRun(iteration, run, search.budget.ceiling.currency);
  if (!isUnderWay(iteration)) return { type: "agent.settled", row };
  const isLost = run.outcome === "abandoned" && isSearchUnderWay(search);
  if (isLost && isDone(search, iteration)) return { type: "agent.ended", row };
  if (isLost && iteration.lostRunIds.length + 1 < MAX_ATTEMPTS) {
    return { type: "agent.lost", row: { ...row, lostRunIds: [...row.lostRunIds, runId] } };
  }
  if (run.outcome === "completed") return { type: "agent.ended", row };
  const reason = run.failure?.message ?? run.reason ?? "The agent's run did not complete.";
  return { type: "agent.failed", row: { ...row, reason } };
}

/** Whether all candidates that it may propose are admitted, or each task that it looks into has its cause. */
function isDone({ budget }: SearchRow, { reflection, proposed }: SearchIterationRow): boolean {
  if (reflection === null) return proposed.length >= budget.perIteration;
  return reflection.causes.length >= reflection.tasks.length;
}

/** The iteration with what a run of it reported. */
function addRun(iteration: SearchIterationRow, run: RunRow, currency: string): SearchIterationRow {
  const isPriced = run.spent === null ? run.startedAt === null : run.spent.currency === currency;
  const agentSpent = addReported(iteration.agentSpent, run.spent, currency);
  return { ...iteration, agentSpent, unpriced: iteration.unpriced || !isPriced };
}

function toProposal(
  turn: TurnReading,
  scene: Scene | undefined,
  message: ProposeCandidates,
  judging: ReplayJudging,
): IterationEvent {
  const held = findHeld(turn, scene, message);
  if (isRefusal(held)) return { type: "agent.refused", refusal: held };
  const { search, iteration } = held;
  if (iteration.kind === "reflect") return { type: "agent.refused", refusal: reflects };
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "agent.refused", refusal: before };
  if (before !== null) return { type: "agent.repeated", answer: answerProposal(turn, held, before.split(" "), true) };
  if (iteration.attempts >= MAX_PROPOSALS) return { type: "agent.refused", refusal: tooOften };
  const input = getSearchInput(turn, turn.self.partition, search.id);
  const found = admitCandidates(turn, { search, input, iteration, judging }, message.proposed);
  if (isRefusal(found)) return { type: "proposal.refused", refusal: found };
  return { ...message, type: "proposal.admitted", admitted: found };
}

/** The answer that admits candidates, by their ids. */
export function answerProposal(
  turn: TurnReading,
  { search, iteration }: Scene,
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

function toCause(turn: TurnReading, scene: Scene | undefined, message: RecordCause): IterationEvent {
  const held = findHeld(turn, scene, message);
  if (isRefusal(held)) return { type: "agent.refused", refusal: held };
  const { reflection } = held.iteration;
  if (reflection === null) return { type: "agent.refused", refusal: recordsNone };
  const task = reflection.tasks.find(({ taskId }) => taskId === message.taskId);
  if (task === undefined) return { type: "agent.refused", refusal: taskNotFound(message.taskId) };
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "agent.refused", refusal: before };
  if (before === null) return { ...message, type: "cause.taken" };
  const answer: CauseRecorded = {
    ...{ taskId: task.taskId, cause: message.cause, replayRunId: task.replayRunId, replayed: true },
  };
  return { type: "agent.repeated", answer };
}

/** The iteration, if the runner that asks holds its run now; else refused as a run that is not there. */
function findHeld(turn: TurnReading, scene: Scene | undefined, { runId, runnerId, fence }: HeldRun): Scene | Refusal {
  const notFound: Refusal = { refused: "not-found", detail: `Run ${runId} not found.` };
  if (scene === undefined || scene.iteration.runId !== runId || !isUnderWay(scene.iteration)) return notFound;
  if (!isSearchUnderWay(scene.search)) return notFound;
  const run = runs.get(turn, turn.self.partition, runId);
  const isHeld = run !== undefined && run.state !== "ended" && run.runnerId === runnerId && run.fence === fence;
  return isHeld ? scene : notFound;
}

const reflects: Refusal = {
  refused: "conflict",
  detail: "This run reflects: it records causes, and proposes no candidates.",
};
const tooOften: Refusal = {
  refused: "conflict",
  detail: `This run has proposed ${MAX_PROPOSALS} times: it may propose no more.`,
};

function taskNotFound(taskId: string): Refusal {
  return { refused: "not-found", detail: `Task ${taskId} is none that this reflection looks into.` };
}
