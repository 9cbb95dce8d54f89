import type { Turn } from "../../runtime/turns/turn.js";
import type { WorkFact } from "../events/catalogue.js";
import { recordWorkEvent } from "../events/event-task.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { ToolAnswered } from "../runners/run-tools.js";
import type { ToolCall } from "../runners/tool-call.js";
import { UNANSWERED } from "../runs/approval.js";
import { openCalls } from "../runs/open-call.table.js";
import { runRef } from "../runs/run.messages.js";
import type { RunOwner } from "../runs/run-owner.js";
import { toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { closeApproval, endWaiting, recordAnswer } from "./call-approval.js";
import { changeCall, getCall, getRunOfCall, insertCall, readEditedNote, readInputs, toName } from "./call-row.js";
import type { CallProblem } from "./call-terms.js";
import { addUse } from "./call-use.js";
import type { CallEvent } from "./classify-tool-call.js";
import {
  mayHaveLeft,
  toCallCode,
  toFailureMessage,
  toFailureText,
  toHookOutput,
  toOutputText,
} from "./request-result.js";
import { listAskIds, sendAnswer } from "./tell-runner.js";
import type { ToolCallContext, ToolCallRow } from "./tool-call.js";

/** Functions that end a call. `tool-call.machine.ts` defines when they apply. The actor stops, and the row stays. */

/** The end of a call. */
interface CallEnd extends Pick<ToolCallRow, "code" | "message"> {
  readonly state: ToolAnswered["outcome"];
  /** The text that the agent gets. */
  readonly text: string;
  /** The output as JSON text; null or absent if there is none. */
  readonly output?: string | null;
  /** Who refused the call and so prevented it; null if nobody refused it. */
  readonly refusedBy: ToolCall["refusedBy"];
}

function endCall(turn: Turn, context: ToolCallContext, end: CallEnd): void {
  const { partition, id: callId } = turn.self;
  const { runId, runEnded } = context;
  const { state, code, message, text, output = null, refusedBy } = end;
  const stored = output === null ? null : toStoredText(turn, partition, output);
  const isStored = output !== null || message === null || text === message;
  const storedText = isStored ? {} : { told: toStoredText(turn, partition, text) };
  const row = changeCall(turn, context, {
    state,
    code,
    message,
    output: stored,
    endedAt: timeText(turn.now),
    ...storedText,
  });
  const bytes = Buffer.byteLength(output ?? (row.told === undefined ? "" : text));
  if (bytes > 0) addUse(turn, runId, { calls: 0, bytes });
  const note = readEditedNote(turn, row);
  if (!runEnded)
    sendAnswer(turn, { ...context, asks: listAskIds(turn, runId) }, { outcome: state, text, note, callId });
  if (state !== "withdrawn") countCall(turn, row, { failed: state === "failed", refusedBy });
  openCalls.remove(turn, partition, runId, callId);
  turn.stop();
}

/** Asks the run to count the call. */
function countCall(
  turn: Turn,
  { runId, integration: server, tool }: Pick<ToolCallRow, "runId" | "integration" | "tool">,
  how: Pick<ToolCall, "failed" | "refusedBy">,
): void {
  turn.send(runRef(turn.self.partition, runId), { type: "call.over", call: { server, tool, ...how } });
}

/** Records a call that is not made, because its inputs are invalid or its tool cannot be used. */
export function failAsk({ turn, ask, tool, actsAs, code, message }: CallEvent<"ask.failed">): ToolCallContext {
  const { runId, runnerId, fence, inputs } = ask;
  insertCall(turn, ask, { integrationId: tool?.integrationId ?? "", state: "vetting", rule: null, actsAs, inputs });
  const context = { runId, runnerId, fence, vettings: 0, approved: false, runEnded: false };
  fail(turn, context, { code, message });
  return context;
}

/** Refuses a call without recording it. The run only counts the refusal. */
export function refuseAsk({ turn, ask, why }: CallEvent<"ask.refused">): void {
  const { runId, runnerId, fence, askId, server, tool } = ask;
  sendAnswer(turn, { runId, runnerId, fence, asks: [askId] }, { outcome: "refused", text: why, callId: null });
  countCall(turn, { runId, integration: server, tool }, { failed: false, refusedBy: "service" });
  endWithoutAnswer(turn, runId);
}

/** Removes the call from the run's open calls and stops the actor. Sends no answer to the runner. */
export function endWithoutAnswer(turn: Turn, runId: string): void {
  openCalls.remove(turn, turn.self.partition, runId, turn.self.id);
  turn.stop();
}

/** Ends a call that is not made. Nothing was sent. */
export function fail(turn: Turn, context: ToolCallContext, { code, message }: CallProblem): void {
  endCall(turn, context, { state: "failed", code, message, text: message, refusedBy: null });
}

/** Ends a call that a person approved although the service can no longer make it. */
export function failApproved(event: CallEvent<"answer.in-vain">, context: ToolCallContext): void {
  const { turn, code, message } = event;
  recordAnswer(event, { state: "approved", edited: null, note: null });
  endWaiting(turn, context);
  fail(turn, context, { code, message });
}

/** Ends a call that a hook refused. The agent gets the hook's reason. */
export function refuseCall(turn: Turn, context: ToolCallContext, why: string): void {
  endCall(turn, context, { state: "refused", code: null, message: why, text: why, refusedBy: "service" });
}

/** Ends a call that a person dismissed. */
export function dismissCall(event: CallEvent<"answer.dismissed">, context: ToolCallContext): void {
  const { turn, note } = event;
  recordAnswer(event, { state: "dismissed", edited: null, note });
  endWaiting(turn, context);
  const name = toName(getCall(turn, context));
  const message = note === null ? `The call of ${name} was dismissed.` : `The call of ${name} was dismissed: ${note}`;
  endCall(turn, context, { state: "dismissed", code: null, message, text: message, refusedBy: "person" });
}

/** Ends a call that nobody can approve any more. */
export function failUnanswerable(turn: Turn, context: ToolCallContext, problem: CallProblem): void {
  closeApproval(turn, context, problem.message);
  endWaiting(turn, context);
  fail(turn, context, problem);
}

/** Ends a call whose approval got no answer in time. */
export function dismissUnanswered(turn: Turn, context: ToolCallContext): void {
  closeApproval(turn, context, UNANSWERED);
  endWaiting(turn, context);
  const name = toName(getCall(turn, context));
  const text = `The call of ${name} was dismissed: nobody answered.`;
  endCall(turn, context, { state: "dismissed", code: null, message: UNANSWERED, text, refusedBy: "service" });
}

/** Withdraws a call before its request starts, because nobody waits for it, or because its run ends or stops. */
export function withdrawCall(turn: Turn, context: ToolCallContext, reason: string): void {
  if (getCall(turn, context).state === "waiting") {
    closeApproval(turn, context, reason);
    endWaiting(turn, context);
  }
  endCall(turn, context, { state: "withdrawn", code: null, message: reason, text: reason, refusedBy: null });
}

/** Ends a call whose request succeeded. */
export function finishCall({ turn, result, owner }: CallEvent<"request.done">, context: ToolCallContext): void {
  const { output = null, unread = null } = result;
  publishUsed(turn, context, owner, { output: toHookOutput(output), failed: false });
  const text = toOutputText(output, unread);
  endCall(turn, context, { state: "done", code: null, message: unread, text, output, refusedBy: null });
}

/** Ends a call whose request failed or has an unknown outcome. */
export function failRequest({ turn, result, owner }: CallEvent<"request.failed">, context: ToolCallContext): void {
  const message = toFailureMessage(toName(getCall(turn, context)), result);
  if (mayHaveLeft(result)) publishUsed(turn, context, owner, { output: toHookOutput(result.response), failed: true });
  const text = toFailureText(message, result);
  endCall(turn, context, { state: "failed", code: toCallCode(result), message, text, refusedBy: null });
}

/** Publishes `tool.used` for hooks, if the call belongs to a task of an open workspace. */
function publishUsed(
  turn: Turn,
  context: ToolCallContext,
  owner: RunOwner,
  how: { readonly output: unknown; readonly failed: boolean },
): void {
  const { partition } = turn.self;
  const { runId } = context;
  const subject = owner.eventSubject(turn, partition, getRunOfCall(turn, runId));
  // A closed workspace publishes no facts.
  if (subject === null || !isWorkspaceOpen(turn, partition)) return;
  const row = getCall(turn, context);
  const event = { at: timeText(turn.now), tool: toName(row), inputs: readInputs(turn, row), ...how };
  const on = "tool.used";
  const of = { on, occurrence: turn.newId("occ"), run: { id: runId }, event } as const;
  const fact: WorkFact = { name: on, work: recordWorkEvent(turn, partition, subject, of) };
  turn.publish(fact);
}
