import { address } from "../../runtime/address.js";
import type { Delivered, Turn } from "../../runtime/turn.js";
import {
  type ClaimRun,
  dispatcherOf,
  type QueueRun,
  type ReleaseClaim,
  type UnqueueRun,
} from "../runners/dispatcher.machine.js";
import type { RunnerMessage, RunStep } from "../runners/protocol.js";
import type { ClaimEnded, RunSaid, TellRunner } from "../runners/runner.machine.js";
import type { OutboxMessage } from "../runners/runner-rows.js";
import { workEvent } from "./event-task.js";
import type { RunContext } from "./run.machine.js";
import type { RunOver, StartRun } from "./run-messages.js";
import { type RunOutcome, type RunRow, runCheckouts, runSteps, runs } from "./run-rows.js";
import { tasks } from "./task-rows.js";
import type { WorkFact, WorkQuestion } from "./work-event.js";

/** What the transitions of a run do; the machine beside it says when. */

type EndReport = Extract<RunnerMessage, { type: "run.ended" }>;

/** The run's row; there is one from `run.start` on. */
export function rowOf(turn: Turn): RunRow {
  const row = runs.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a run without its row");
  return row;
}

export function queueRun(event: Delivered<StartRun>): void {
  const { turn, needs, taskId, teamId, lineId, stationId, stationKey, passesTo, config, fingerprint } = event;
  const workspaceId = turn.self.partition;
  const row: RunRow = {
    ...{ id: turn.self.id, taskId, teamId, lineId, stationId, stationKey, passesTo, config, fingerprint },
    ...{ state: "queued", outcome: null, reason: null, runnerId: null, fence: 0, steps: 0, spent: null },
    ...{ ending: null, failure: null, check: null, queuedAtMs: turn.now, startedAt: null, endedAt: null },
  };
  runs.put(turn, workspaceId, row.id, row);
  turn.change(`run/${row.id}`, { type: "state", state: "queued" });
  const message: QueueRun = {
    type: "run.queue",
    run: { runId: row.id, taskId, ...needs, queuedAtMs: turn.now },
  };
  turn.send(dispatcherOf(workspaceId), message);
}

export function claimRun(context: RunContext, event: Delivered<ClaimRun>, gate: "run.starting"): RunContext {
  const { turn, runnerId } = event;
  const row = rowOf(turn);
  const fence = context.fence + 1;
  runs.put(turn, turn.self.partition, row.id, { ...row, state: "claimed", runnerId, fence });
  turn.change(`run/${row.id}`, { type: "state", state: "claimed" });
  const task = tasks.get(turn, turn.self.partition, row.taskId);
  if (task === undefined) throw new Error("a run without its task");
  const question: WorkQuestion = {
    name: gate,
    id: `${gate} ${fence}`,
    work: workEvent(turn, turn.self.partition, task, {
      on: gate,
      occurrence: turn.newId("occ"),
      run: { id: row.id },
      event: { at: new Date(turn.now).toISOString() },
      causes: [],
    }),
  };
  turn.ask(question);
  return { ...context, fence, runnerId, assigned: false };
}

/** Puts a message into the outbox of the run's runner. */
export function tellRunner(turn: Turn, context: Pick<RunContext, "runnerId">, message: OutboxMessage): void {
  if (context.runnerId === null) return;
  const tell: TellRunner = { type: "tell", message };
  turn.send(address(turn.self.partition, "runner", context.runnerId), tell);
}

export function keepStep(turn: Turn, step: RunStep): void {
  const row = rowOf(turn);
  if (step.index !== row.steps) return;
  const kept = { ...step, at: new Date(turn.now).toISOString() };
  runSteps.put(turn, turn.self.partition, [row.id, step.index], kept);
  runs.put(turn, turn.self.partition, row.id, { ...row, steps: row.steps + 1 });
  turn.change(`run/${row.id}`, { type: "step", step: kept });
}

export function stopRun(turn: Turn, context: RunContext, reason: string): void {
  tellRunner(turn, context, { type: "run.stop", runId: turn.self.id, fence: context.fence, reason });
}

/** The runner's own report of the end. */
export function endByReport(turn: Turn, context: RunContext, report: EndReport): void {
  const row = rowOf(turn);
  for (const checkout of report.checkouts) {
    runCheckouts.put(turn, turn.self.partition, [row.id, checkout.repository], checkout);
  }
  const { ending, failure, check, spent, outcome } = report;
  runs.put(turn, turn.self.partition, row.id, { ...row, ending, failure, check, spent });
  const ended: ClaimEnded = { type: "claim.ended", runId: row.id };
  if (context.runnerId !== null) turn.send(address(turn.self.partition, "runner", context.runnerId), ended);
  finish(turn, context, outcome, failure?.message ?? null);
}

/** The end that the service decides on; whoever holds the claim drops it. */
export function endRun(
  turn: Turn,
  context: RunContext,
  end: { readonly outcome: RunOutcome; readonly reason: string },
): void {
  tellRunner(turn, context, { type: "run.drop", runId: turn.self.id, fence: context.fence });
  if (context.runnerId === null) {
    const { id: runId, queuedAtMs } = rowOf(turn);
    const unqueue: UnqueueRun = { type: "run.unqueue", run: { runId, queuedAtMs } };
    turn.send(dispatcherOf(turn.self.partition), unqueue);
  }
  finish(turn, context, end.outcome, end.reason);
}

function finish(turn: Turn, context: RunContext, outcome: RunOutcome, reason: string | null): void {
  const workspaceId = turn.self.partition;
  const at = new Date(turn.now).toISOString();
  const row: RunRow = { ...rowOf(turn), state: "ended", outcome, reason, endedAt: at };
  runs.put(turn, workspaceId, row.id, row);
  turn.change(`run/${row.id}`, { type: "state", state: "ended", outcome, reason });
  if (context.runnerId !== null) giveBack(turn, context.runnerId);
  const task = tasks.get(turn, workspaceId, row.taskId);
  if (task !== undefined) {
    const on = "run.ended";
    const of = { on, occurrence: turn.newId("occ"), run: { id: row.id }, event: { at, outcome }, causes: [] } as const;
    const fact: WorkFact = { name: on, work: workEvent(turn, workspaceId, task, of) };
    turn.publish(fact);
  }
  const over: RunOver = { type: "run.over", runId: row.id, outcome };
  turn.send(address(workspaceId, "task", row.taskId), over);
}

/** Frees the runner's slot. */
export function giveBack(turn: Turn, runnerId: string): void {
  const release: ReleaseClaim = { type: "claim.release", runnerId, runId: turn.self.id };
  turn.send(dispatcherOf(turn.self.partition), release);
}

/** Answers a message of a claim that is over: that runner kills what it runs for it. */
export function dropStale(turn: Turn, event: RunSaid): void {
  const drop: OutboxMessage = { type: "run.drop", runId: turn.self.id, fence: event.said.fence };
  if (event.said.type !== "run.ended") tellRunner(turn, { runnerId: event.runnerId }, drop);
}
