import type { EventWith } from "../../runtime/cells/chart.js";
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import { MAX_UNDELIVERED } from "../runners/protocol.js";
import { hasFeature } from "../runners/runner.table.js";
import { timeText } from "../time-text.js";
import { refuseNonAssignee } from "./assignee.js";
import type { RunContext, RunRow, StepRow } from "./run.js";
import type { MessageSent, SendMessage } from "./run.messages.js";
import { runMessageKeys, runMessages, runs } from "./run.table.js";
import { addStep, getRunRow, sendToOwner, sendToRunner } from "./run.transitions.js";
import type { RunOwner } from "./run-owner.js";
import { findStep } from "./run-steps.js";

/**
 * Messages that people send to a run. One turn records a message as a step of the run and sends it to the runner. At
 * the run's end, messages that the agent did not get become notes of the run's owner, for the next run.
 */

/** The earlier message that a new message may repeat. */
interface SentBefore {
  /** The earlier message with the same key; null if there is none. */
  readonly before: StepRow | null;
}

/** Finds the step of an earlier message with the same idempotency key; null if there is none. Reads only. */
export function findSentBefore(turn: TurnReading, { by, key }: SendMessage): StepRow | null {
  const { partition, id } = turn.self;
  const once = key === null ? undefined : runMessageKeys.get(turn, partition, id, by, key);
  return once === undefined ? null : findStep(turn, partition, id, once.index);
}

/** Refuses a message that the run cannot accept now. Returns null otherwise. Reads only. */
export function refuseMessage(
  turn: TurnReading,
  context: RunContext,
  { by, text, before }: Pick<SendMessage, "by" | "text"> & SentBefore,
  owner: RunOwner,
): Refusal | null {
  const run = getRunRow(turn);
  const assignee = owner.assignee(turn, turn.self.partition, run);
  if (assignee === undefined) return { refused: "not-found" };
  if (!owner.hasConversation) return { refused: "conflict", detail: "The agent of this run accepts no messages." };
  if (before !== null) {
    const detail = "This Idempotency-Key was already used for a different text to this run.";
    return before.text === text ? null : { refused: "idempotency-key-reused", detail };
  }
  return refuseNonAssignee({ assignee }, by) ?? refuseByState(turn, context, run);
}

function refuseByState(turn: TurnReading, context: RunContext, run: RunRow): Refusal | null {
  const conflict = (detail: string): Refusal => ({ refused: "conflict", detail });
  if (run.state === "ended") return conflict("The run has ended. Add a note to the task for its next run.");
  if (context.stopping) return conflict("The run is being stopped. Add a note to the task for its next run.");
  if (!context.assigned || context.runnerId === null) {
    return conflict("No runner has started the run yet. Add a note to the task: the run starts with its notes.");
  }
  if (!hasFeature(turn, turn.self.partition, context.runnerId, "messages")) {
    return conflict("The run's runner has a release that does not deliver messages. Add a note to the task.");
  }
  if ((run.unheard ?? 0) < MAX_UNDELIVERED) return null;
  return conflict(`The last ${MAX_UNDELIVERED} messages have not been delivered to the run's agent yet.`);
}

/**
 * Records the message and sends it to the runner. A repeated message with the same key is not sent again, and gets the
 * same answer.
 */
export function sendMessage(event: EventWith<SendMessage, SentBefore>, context: RunContext): RunContext {
  const { turn, by, text, key, before } = event;
  const workspaceId = turn.self.partition;
  if (before !== null) {
    answer(turn, { step: before, replayed: true });
    return context;
  }
  const row = getRunRow(turn);
  const from = `person ${by}`;
  const at = timeText(turn.now);
  const step: StepRow = { index: row.steps, kind: "message", text, tool: null, spent: null, from, at };
  const said = context.said + 1;
  runMessages.put(turn, workspaceId, [row.id, said], { index: step.index, by });
  if (key !== null) runMessageKeys.put(turn, workspaceId, [row.id, by, key], { index: step.index });
  addStep(turn, step, { unheard: (row.unheard ?? 0) + 1 });
  sendToRunner(turn, context, { type: "run.message", runId: row.id, fence: context.fence, n: said, from, text });
  answer(turn, { step, replayed: false });
  return { ...context, said };
}

/** Records that the agent received all messages up to the n-th. */
export function recordDelivered(turn: Turn, { said }: RunContext, n: number): void {
  const row = getRunRow(turn);
  const unheard = said - n;
  if (unheard < 0 || unheard >= (row.unheard ?? 0)) return;
  runs.put(turn, turn.self.partition, row, { ...row, unheard });
}

/**
 * Sends the owner the messages that the run's agent did not get, for the start of the next run. If the run was
 * abandoned, sends the run's last {@link MAX_UNDELIVERED} messages, because the next agent has received none of them.
 */
export function carryUndelivered(turn: Turn, { said }: RunContext, { id, outcome, unheard = 0 }: RunRow): void {
  if (said === 0) return;
  const workspaceId = turn.self.partition;
  const first = outcome === "abandoned" ? Math.max(0, said - MAX_UNDELIVERED) : said - unheard;
  for (const { key, value } of runMessages.entries(turn, workspaceId, [id], { after: [id, first] })) {
    const step = findStep(turn, workspaceId, id, value.index);
    if (step === null) continue;
    sendToOwner(turn, { type: "note", from: `person ${value.by}`, text: step.text, key: `said ${id} ${key.at(-1)}` });
  }
}

function answer(turn: Turn<MessageSent>, spoken: MessageSent): void {
  turn.reply(spoken);
}
