import { topic } from "../../runtime/feeds/topic.js";
import type { Delivered, Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { WorkQuestion } from "../events/catalogue.js";
import { type EventSubject, recordWorkEvent } from "../events/event-task.js";
import { addMoney, boundMoney } from "../money.js";
import { tallyStep } from "../run-facts/call-tally.js";
import { dispatcherRef, type QueueRun } from "../runners/dispatcher.messages.js";
import type { RunnerMessage, RunStep, Spent } from "../runners/protocol.js";
import { type ClaimRun, runnerRef, type SendToRunner } from "../runners/runner.messages.js";
import type { OutboxMessage } from "../runners/runner.table.js";
import { timeText } from "../time-text.js";
import type { RunContext, RunRow, StepRow } from "./run.js";
import type { OwnerMessage, RunClaimed, StartRun } from "./run.messages.js";
import { runEntry, runs, toQueuedRun } from "./run.table.js";
import { recordBases, recordBeginning, recordBrief } from "./run-input.js";
import { getRunInput } from "./run-input.table.js";
import type { RunOwner } from "./run-owner.js";
import { storeStep } from "./run-steps.js";

/** The transition functions of a run until its end. `run.machine.ts` defines when they apply. */

/** Returns the run's row, which exists from `run.start` on. */
export function getRunRow(turn: TurnReading): RunRow {
  const row = runs.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a run without its row");
  return row;
}

type StartReport = Extract<RunnerMessage, { type: "run.started" }>;

/** Sends a message to the run's owner. */
export function sendToOwner(turn: Turn, message: OwnerMessage | RunClaimed): void {
  turn.send(getRunRow(turn).ownerAddress, message);
}

/** Returns the run's task as events show it. Throws if the run has no task. */
export function getEventSubject(turn: Turn, owner: RunOwner): EventSubject {
  const subject = owner.eventSubject(turn, turn.self.partition, getRunRow(turn));
  if (subject === null) throw new Error(`the ${owner.kind} of a run has no task for events to show`);
  return subject;
}

/** A new step together with the run's changed members, as published in the run's stream. */
const stepTopic = topic<{ readonly type: "step"; readonly step: StepRow; readonly run: Partial<RunRow> }>("run");

export function queueRun(event: Delivered<StartRun>): void {
  const { turn, owner, lane } = event;
  const queued: RunRow = {
    id: turn.self.id,
    owner,
    ownerAddress: event.ownerAddress,
    taskId: owner.kind === "task" ? owner.id : null,
    teamId: event.teamId,
    lineId: event.lineId,
    stationId: event.stationId,
    stationKey: event.stationKey,
    passesTo: event.beginning.station.passesTo,
    fingerprint: event.fingerprint,
    needs: event.needs,
    queuedAtMs: turn.now,
    state: "queued",
    outcome: null,
    reason: null,
    runnerId: null,
    fence: 0,
    steps: 0,
    spent: null,
    handover: null,
    ending: null,
    failure: null,
    check: null,
    startedAt: null,
    endedAt: null,
  };
  const row = lane === undefined ? queued : { ...queued, lane };
  turn.direct(runEntry(turn.self.partition, row.id));
  runs.insert(turn, turn.self.partition, row);
  recordBeginning(turn, event);
  const message: QueueRun = { type: "run.queue", run: toQueuedRun(row) };
  turn.send(dispatcherRef(turn.self.partition), message);
}

/** The gate that decides before a run starts. */
export const STARTING = "run.starting";

/** Claims the run for the runner. If the owner has no gate, assigns the runner at once. */
export function claimRun(context: RunContext, event: Delivered<ClaimRun>, owner: RunOwner): RunContext {
  const { turn, runnerId } = event;
  const row = getRunRow(turn);
  const fence = context.fence + 1;
  runs.put(turn, turn.self.partition, row, { ...row, state: "claimed", runnerId, fence });
  recordBrief(turn, row, owner);
  if (owner.hearsClaims) sendToOwner(turn, { type: "run.claimed", runId: row.id });
  const claimed = { ...context, fence, runnerId, assigned: false };
  if (!owner.hasGate) return assignRunner(turn, claimed);
  askStarting(turn, owner, fence);
  return claimed;
}

function askStarting(turn: Turn, owner: RunOwner, fence: number): void {
  const question: WorkQuestion = {
    name: STARTING,
    id: `${STARTING} ${fence}`,
    work: recordWorkEvent(turn, turn.self.partition, getEventSubject(turn, owner), {
      on: STARTING,
      occurrence: turn.newId("occ"),
      run: { id: turn.self.id },
      event: { at: timeText(turn.now) },
    }),
  };
  turn.askGate(question);
}

/** Assigns the run to the runner that claimed it. */
export function assignRunner(turn: Turn, context: RunContext): RunContext {
  sendToRunner(turn, context, { type: "run.assign", runId: turn.self.id, fence: context.fence });
  return { ...context, assigned: true };
}

/** Puts a message into the outbox of the run's runner. */
export function sendToRunner(turn: Turn, context: Pick<RunContext, "runnerId">, message: OutboxMessage): void {
  if (context.runnerId === null) return;
  const command: SendToRunner = { type: "tell", message };
  turn.send(runnerRef(turn.self.partition, context.runnerId), command);
}

/** Records that the runner has started the run, and notifies the owner. */
export function beginRun(turn: Turn, { bases = [] }: Pick<StartReport, "bases">): void {
  const row = getRunRow(turn);
  recordBases(turn, bases);
  const startedAt = timeText(turn.now);
  runs.put(turn, turn.self.partition, row, { ...row, state: "running", startedAt });
  sendToOwner(turn, { type: "run.began", runId: row.id });
}

/**
 * Records a step of the runner if its index is the next one. Ignores other steps as repetitions. The run's own index is
 * higher than the runner's, because people's messages are steps of the run too.
 */
export function recordStep(turn: Turn, context: Pick<RunContext, "said">, step: RunStep): void {
  const row = getRunRow(turn);
  if (step.index !== row.steps - context.said) return;
  const at = timeText(turn.now);
  addStep(turn, { ...step, index: row.steps, from: "agent", at }, { spent: addSpent(row.spent, step.spent) });
}

/** Adds a step with the next index, and merges `also` into the run's row. */
export function addStep(turn: Turn, step: StepRow, also: Partial<Pick<RunRow, "spent" | "unheard">>): void {
  const row = getRunRow(turn);
  storeStep(turn, row.id, step);
  const changed = { ...also, steps: step.index + 1 };
  const calls = tallyStep(row.calls, countsItself(turn, step) ? { skill: step.skill } : step);
  runs.put(turn, turn.self.partition, row, { ...row, ...changed, ...(calls && { calls }) });
  turn.publishChange(stepTopic(row.id), { type: "step", step, run: changed });
}

/**
 * Whether the step is about a call of one of the run's own tools. The run counts such a call when the call ends. False
 * for a call that the agent's own program refused, because that call never reached the service.
 */
function countsItself(turn: Turn, { call }: StepRow): boolean {
  const server = call?.server ?? null;
  if (server === null || call?.refusedBy === "agent") return false;
  const { beginning } = getRunInput(turn, turn.self.partition, turn.self.id);
  return beginning?.tools?.servers.includes(server) === true;
}

/** Time limit for a runner to stop a run, in milliseconds: to end its programs and to read the changes. */
const STOP_MS = 60_000;

/** Asks the runner to stop the run, once, and sets the time limit. */
export function stopRun(turn: Turn, context: RunContext, reason: string): RunContext {
  if (context.stopping) return context;
  awaitStop(turn);
  sendToRunner(turn, context, { type: "run.stop", runId: turn.self.id, fence: context.fence, reason });
  return { ...context, stopping: true };
}

/** Sets the wake-up at the time limit of a stop. */
export function awaitStop(turn: Turn): void {
  turn.wake("stop", turn.now + STOP_MS);
}

/**
 * Adds an amount to the sum. Ignores an amount in another currency than the sum's. The runner's final report has the
 * exact sum.
 */
function addSpent(before: Spent | null, more: Spent | null): Spent | null {
  if (before === null || more === null) return boundMoney(before ?? more);
  return addMoney(before, more) ?? boundMoney(before);
}
