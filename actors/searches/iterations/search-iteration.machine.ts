/**
 * An iteration of a search, `search-iteration/<id>`: the work of the search's agent, which proposes candidates or
 * reflects on failures. The search writes the iteration's row in the turn that starts the iteration.
 * `classifyIteration` turns each message into an event before the step. If an event's name differs from its message's
 * name, the message follows in brackets.
 *
 * | state          | moved by                               | next    | also                                          |
 * |----------------|----------------------------------------|---------|-----------------------------------------------|
 * | new            | iteration.begin                        | wanted  | queues the agent's run                        |
 * | wanted         | agent.taken (run.claimed)              | running | the first claim counts in `iterationsRun`     |
 * | wanted         | agent.unclaimed (woken, after a day)   | failed  | withdraws the run; notifies the search        |
 * | wanted,running | agent.ended (run.over)                 | ended   | counts its reported cost; notifies the search |
 * |                | (also if the runner is lost after the  |         |                                               |
 * |                | last proposal or cause)                |         |                                               |
 * | wanted,running | agent.failed (run.over)                | failed  | counts its reported cost; notifies the search |
 * | wanted,running | agent.lost (run.over, at most twice)   | wanted  | counts its reported cost; queues another run  |
 * | wanted,running | iteration.stop                         | failed  | withdraws the run; notifies the search        |
 * | wanted,running | proposal.admitted (candidates.propose) | same    | writes the candidates; notifies the search    |
 * | wanted,running | proposal.refused (candidates.propose)  | same    | answers with the refusal; counts an attempt   |
 * | wanted,running | cause.taken (cause.record)             | same    | stores the cause; replaces one of the same    |
 * |                |                                        |         | task                                          |
 * | wanted,running | agent.repeated (either, with a key     | same    | repeats the answer                            |
 * |                | that was used before)                  |         |                                               |
 * | any            | agent.refused (either)                 | same    | answers with the refusal, for example because |
 * |                |                                        |         | the runner did not claim the run, or the      |
 * |                |                                        |         | iteration is of the other kind                |
 * | ended, failed  | agent.settled (run.over)               | same    | counts the cost of a withdrawn run            |
 * | any            | iteration.forget                       | gone    | removes its runs                              |
 * | any            | iteration.other                        | same    |                                               |
 *
 * 1. At most one run of the iteration is in progress, and none after the iteration ends or fails.
 * 2. The turn in which a run ends adds the run's reported cost to the search's budget, once per run.
 */
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { createChart, type NoContext, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Answered, Turn, TurnReading, Woken } from "../../../runtime/turns/turn.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { addReported } from "../../replays/budget/replay-ceiling.js";
import { MAX_ATTEMPTS } from "../../replays/copies/copy-result.js";
import type { ReplayJudging } from "../../replays/judging/model-terms.js";
import { findRequestBefore } from "../../resources/repeated-request.js";
import type { RunRow } from "../../runs/run.js";
import type { RunOver } from "../../runs/run.messages.js";
import { runs } from "../../runs/run.table.js";
import { recordsNone } from "../agent/cause.js";
import { admitCandidates } from "../candidates/admit-candidates.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "../search/search.js";
import { getSearchInput, searches } from "../search/search.table.js";
import {
  type CandidatesProposed,
  type CauseRecorded,
  type ClaimedRun,
  type ProposeCandidates,
  type RecordCause,
  type SearchIterationMessage,
  searchIterationRef,
} from "./search-iteration.messages.js";
import { findIteration } from "./search-iteration.table.js";
import {
  admit,
  answerProposal,
  countAgent,
  endIteration,
  forgetIteration,
  type IterationScene,
  recordCause,
  refuseProposal,
  takeAgent,
  wantAgent,
  withdrawAgent,
} from "./search-iteration.transitions.js";

/** Maximum number of proposals by an iteration's agent. */
const MAX_PROPOSALS = 100;

const OTHER = toEvent("iteration.other");

/** An agent's request with an idempotency key that was used before. */
interface AgentRepeated extends Answered<CandidatesProposed | CauseRecorded> {
  readonly type: "agent.repeated";
  readonly answer: CandidatesProposed | CauseRecorded;
}

/** Returns a function that finds the event for each message to an iteration. The function only reads. */
function classifyIteration(judging: ReplayJudging) {
  return (message: SearchIterationMessage | Woken, _state: unknown, turn: TurnReading) => {
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
        return isAwaited(scene, message.runId) ? toEvent("agent.taken") : OTHER;
      case "run.over":
        return scene === undefined ? OTHER : toOver(turn, scene, message);
      case "woken":
        return scene?.iteration.state === "wanted" ? toEvent("agent.unclaimed") : OTHER;
      case "run.began":
      case "run.asking":
      case "note":
        return OTHER;
      // No transition handles a message of an unknown type.
      default:
        return message;
    }
  };
}

function findScene(turn: TurnReading): IterationScene | undefined {
  const { partition, id } = turn.self;
  const iteration = findIteration(turn, partition, id);
  const search = iteration === undefined ? undefined : searches.get(turn, partition, iteration.searchId);
  return iteration === undefined || search === undefined ? undefined : { search, iteration };
}

/** Whether the iteration waits for a runner to claim this run. */
function isAwaited(scene: IterationScene | undefined, runId: string): boolean {
  return scene?.iteration.state === "wanted" && scene.iteration.runId === runId;
}

function isUnderWay({ state }: SearchIterationRow): boolean {
  return state === "wanted" || state === "running";
}

/**
 * Returns the event for a run's end. If the runner was lost before the agent was done, another run starts, at most
 * twice.
 */
function toOver(turn: TurnReading, { search, iteration }: IterationScene, { runId }: RunOver) {
  const run = runs.get(turn, turn.self.partition, runId);
  if (run === undefined || runId !== iteration.runId) return OTHER;
  const row = addRun(iteration, run, search.budget.ceiling.currency);
  if (!isUnderWay(iteration)) return toEvent("agent.settled", { row });
  const isLost = run.outcome === "abandoned" && isSearchUnderWay(search);
  if (isLost && isDone(search, iteration)) return toEvent("agent.ended", { row });
  if (isLost && iteration.lostRunIds.length + 1 < MAX_ATTEMPTS) {
    return toEvent("agent.lost", { row: { ...row, lostRunIds: [...row.lostRunIds, runId] } });
  }
  if (run.outcome === "completed") return toEvent("agent.ended", { row });
  const reason = run.failure?.message ?? run.reason ?? "The agent's run did not complete.";
  return toEvent("agent.failed", { row: { ...row, reason } });
}

/**
 * Whether the agent has nothing left to send: it has proposed the maximum number of candidates, or, in a reflection,
 * recorded a cause for each task.
 */
function isDone({ budget }: SearchRow, { reflection, proposed }: SearchIterationRow): boolean {
  if (reflection === null) return proposed.length >= budget.perIteration;
  return reflection.causes.length >= reflection.tasks.length;
}

/** Adds a run's reported cost to the iteration. */
function addRun(iteration: SearchIterationRow, run: RunRow, currency: string): SearchIterationRow {
  const isPriced = run.spent === null ? run.startedAt === null : run.spent.currency === currency;
  const agentSpent = addReported(iteration.agentSpent, run.spent, currency);
  return { ...iteration, agentSpent, unpriced: iteration.unpriced || !isPriced };
}

function toProposal(
  turn: TurnReading,
  scene: IterationScene | undefined,
  message: ProposeCandidates,
  judging: ReplayJudging,
) {
  const refuse = (refusal: Refusal) => toEvent("agent.refused", { ...message, refusal });
  const claimed = findClaimed(turn, scene, message);
  if (isRefusal(claimed)) return refuse(claimed);
  const { search, iteration } = claimed;
  if (iteration.kind === "reflect") return refuse(reflects);
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  if (before !== null) return repeat(answerProposal(turn, claimed, before.split(" "), true));
  if (iteration.attempts >= MAX_PROPOSALS) return refuse(tooOften);
  const input = getSearchInput(turn, turn.self.partition, search.id);
  const found = admitCandidates(turn, { search, input, iteration, judging }, message.proposed);
  if (isRefusal(found)) return toEvent("proposal.refused", { ...message, refusal: found });
  return toEvent("proposal.admitted", { ...message, admitted: found, judging });
}

function toCause(turn: TurnReading, scene: IterationScene | undefined, message: RecordCause) {
  const refuse = (refusal: Refusal) => toEvent("agent.refused", { ...message, refusal });
  const claimed = findClaimed(turn, scene, message);
  if (isRefusal(claimed)) return refuse(claimed);
  const { reflection } = claimed.iteration;
  if (reflection === null) return refuse(recordsNone);
  const task = reflection.tasks.find(({ taskId }) => taskId === message.taskId);
  if (task === undefined) return refuse(taskNotFound(message.taskId));
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  if (before === null) return toEvent("cause.taken", message);
  const { taskId, replayRunId } = task;
  return repeat({ taskId, cause: message.cause, replayRunId, replayed: true });
}

function repeat(answer: AgentRepeated["answer"]): AgentRepeated {
  return { type: "agent.repeated", answer };
}

/**
 * Returns the iteration if its run is claimed by this runner with this fence; otherwise refuses as if the run did not
 * exist.
 */
function findClaimed(
  turn: TurnReading,
  scene: IterationScene | undefined,
  { runId, runnerId, fence }: ClaimedRun,
): IterationScene | Refusal {
  const notFound: Refusal = { refused: "not-found", detail: `Run ${runId} not found.` };
  if (scene === undefined || scene.iteration.runId !== runId || !isUnderWay(scene.iteration)) return notFound;
  if (!isSearchUnderWay(scene.search)) return notFound;
  const run = runs.get(turn, turn.self.partition, runId);
  const isClaimed = run !== undefined && run.state !== "ended" && run.runnerId === runnerId && run.fence === fence;
  return isClaimed ? scene : notFound;
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

const { on, machine } = createChart<NoContext, ReturnType<ReturnType<typeof classifyIteration>>>();

/** Transitions of every state after the start. */
const always = {
  ...on("agent.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("iteration.forget", forgetIteration),
  ...on("iteration.other"),
};

/** Transitions of the states with a run in progress. */
const underWay = {
  ...always,
  ...on("agent.ended", "ended", count, ({ turn }) => endIteration(turn, "ended")),
  ...on("agent.failed", "failed", count, ({ turn }) => endIteration(turn, "failed")),
  ...on("agent.lost", "wanted", count, ({ turn }) => wantAgent(turn)),
  ...on("iteration.stop", "failed", ({ turn }) => withdrawAgent(turn, "The search was stopped.")),
  ...on("proposal.admitted", (event) => admit(event, event.admitted, event.judging)),
  ...on("proposal.refused", ({ turn, refusal }) => refuseProposal(turn, refusal)),
  ...on("cause.taken", recordCause),
  ...on("agent.repeated", ({ turn, answer }) => turn.reply(answer)),
};

/** Transitions of the end states. */
const over = { ...always, ...on("agent.settled", count) };

const iterationMachine = machine({
  id: "search-iteration",
  initial: "new",
  states: {
    new: {
      on: {
        ...on("iteration.begin", "wanted", ({ turn }) => wantAgent(turn)),
        ...on(
          "agent.refused",
          ({ turn, refusal }) => turn.reply(refusal),
          ({ turn }) => turn.stop(),
        ),
        ...on("iteration.forget", forgetIteration),
        ...on("iteration.other", ({ turn }) => turn.stop()),
      },
    },
    wanted: {
      on: {
        ...underWay,
        ...on("agent.taken", "running", ({ turn }) => takeAgent(turn)),
        ...on("agent.unclaimed", "failed", ({ turn }) =>
          withdrawAgent(turn, "No runner claimed the agent's run within a day."),
        ),
      },
    },
    running: { on: underWay },
    ended: { on: over },
    failed: { on: over },
  },
});

function count({ turn, row }: { readonly turn: Turn; readonly row: SearchIterationRow }): void {
  countAgent(turn, row);
}

/** Defines the iteration actor (see the table above). `judging` describes how this deployment scores copies. */
export function searchIterationActor(judging: ReplayJudging): ActorType {
  return defineActor(searchIterationRef, {
    machine: iterationMachine,
    classify: classifyIteration(judging),
    version: 1,
  });
}
