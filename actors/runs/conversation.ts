import type { Delivered, Turn } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import { MAX_UNDELIVERED } from "../runners/protocol.js";
import { hasFeature } from "../runners/runner.table.js";
import { refuseUnlessAssigneeOf } from "./assignee.js";
import type { RunContext } from "./run.machine.js";
import type { MessageSent, SendMessage } from "./run.messages.js";
import { type RunRow, runMessageKeys, runMessages, runSteps, type StepRow } from "./run.table.js";
import { addStep, findRunRow, getRunRow, putRun, sendToRunner, tellOwner } from "./run.transitions.js";
import type { RunOwner } from "./run-owner.js";

/**
 * What people say to a run. Each message is a step of the run and is sent to the run's runner, in the same batch; what
 * the agent was not given by the run's end becomes notes of its owner, which the next run is given.
 */

/** Why nothing may be said to the run now, or null when it may. Reads only. */
export function refuseMessage(event: Delivered<SendMessage>, context: RunContext, owner: RunOwner): Refusal | null {
  const { turn, by, text } = event;
  const run = findRunRow(turn);
  const assignee = run === undefined ? undefined : owner.assignee(turn, turn.self.partition, run.owner.id);
  if (run === undefined || assignee === undefined) return { refused: "not-found" };
  if (!owner.hasConversation) return { refused: "conflict", detail: "Nobody speaks to the agent of this run." };
  const before = findSentBefore(event);
  if (before !== undefined) {
    const detail = "This Idempotency-Key was used for another text to this run.";
    return before.text === text ? null : { refused: "idempotency-key-reused", detail };
  }
  return refuseUnlessAssigneeOf({ assignee }, by) ?? refuseByState(turn, context, run);
}

function refuseByState(turn: Turn, context: RunContext, run: RunRow): Refusal | null {
  const conflict = (detail: string): Refusal => ({ refused: "conflict", detail });
  if (run.state === "ended") return conflict("The run is over: say it on the task, for its next run.");
  if (context.stopping) return conflict("The run is being stopped: say it on the task, for its next run.");
  if (!context.assigned || context.runnerId === null) {
    return conflict("No runner works on the run yet: say it on the task, whose notes the run begins with.");
  }
  if (!hasFeature(turn, turn.self.partition, context.runnerId, "messages")) {
    return conflict("The run's runner is of a release that passes no messages on: say it on the task.");
  }
  if ((run.unheard ?? 0) < MAX_UNDELIVERED) return null;
  return conflict(`The run's agent has not been given the last ${MAX_UNDELIVERED} messages yet.`);
}

/** Keeps the message and has the runner told; one said before under its key is only answered again. */
export function sendMessage(event: Delivered<SendMessage>, context: RunContext): RunContext {
  const { turn, by, text, key } = event;
  const workspaceId = turn.self.partition;
  const before = findSentBefore(event);
  if (before !== undefined) {
    answer(turn, { step: before, replayed: true });
    return context;
  }
  const row = getRunRow(turn);
  const from = `person ${by}`;
  const at = new Date(turn.now).toISOString();
  const step: StepRow = { index: row.steps, kind: "message", text, tool: null, spent: null, from, at };
  const said = context.said + 1;
  runMessages.put(turn, workspaceId, [row.id, said], { index: step.index, by });
  if (key !== null) runMessageKeys.put(turn, workspaceId, [row.id, by, key], { index: step.index });
  addStep(turn, step, { unheard: (row.unheard ?? 0) + 1 });
  sendToRunner(turn, context, { type: "run.message", runId: row.id, fence: context.fence, n: said, from, text });
  answer(turn, { step, replayed: false });
  return { ...context, said };
}

/** The agent was given everything up to the n-th message. */
export function recordDelivered(turn: Turn, { said }: RunContext, n: number): void {
  const row = getRunRow(turn);
  const unheard = said - n;
  if (unheard >= 0 && unheard < (row.unheard ?? 0)) putRun(turn, { ...row, unheard });
}

/**
 * Hands on to the owner what the run's agent was not given, so that the next run begins with it. Of an abandoned run
 * that is everything, the latest of it: its agent is gone with all that it was told.
 */
export function carryUndelivered(turn: Turn, { said }: RunContext, { id, outcome, unheard = 0 }: RunRow): void {
  const workspaceId = turn.self.partition;
  const first = outcome === "abandoned" ? Math.max(0, said - MAX_UNDELIVERED) : said - unheard;
  for (const { key, value } of runMessages.entries(turn, workspaceId, [id], { after: [id, first] })) {
    const step = runSteps.get(turn, workspaceId, id, value.index);
    if (step === undefined) continue;
    tellOwner(turn, { type: "note", from: `person ${value.by}`, text: step.text, key: `said ${id} ${key.at(-1)}` });
  }
}

function findSentBefore({ turn, by, key }: Delivered<SendMessage>): StepRow | undefined {
  if (key === null) return undefined;
  const once = runMessageKeys.get(turn, turn.self.partition, turn.self.id, by, key);
  return once === undefined ? undefined : runSteps.get(turn, turn.self.partition, turn.self.id, once.index);
}

function answer(turn: Turn, spoken: MessageSent): void {
  turn.reply(spoken);
}
