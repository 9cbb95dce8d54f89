import type { Turn } from "../../runtime/turns/turn.js";
import type { WorkQuestion } from "../events/catalogue.js";
import { recordWorkEvent } from "../events/event-task.js";
import { readJson, writeJson } from "../exact-json.js";
import { startIntegrationRequest } from "../integrations/requests/start-request.js";
import { approvals } from "../runs/approval.table.js";
import { openCalls } from "../runs/open-call.table.js";
import { runRef } from "../runs/run.messages.js";
import type { RunOwner } from "../runs/run-owner.js";
import { readStoredText, toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { endWaiting, recordAnswer, sendContinues } from "./call-approval.js";
import { changeCall, getCall, getRunOfCall, insertCall, readInputs, toName } from "./call-row.js";
import { addUse, beginWait } from "./call-use.js";
import { type CallEvent, questionId } from "./classify-tool-call.js";
import { type TaskValues, toTaskValues } from "./task-values.js";
import { listAskIds, sendWaiting } from "./tell-runner.js";
import type { ToolCallContext } from "./tool-call.js";
import { toolCallRef } from "./tool-call.messages.js";

/** The transition functions of an open call. `tool-call.machine.ts` defines when they apply. */

/** Time limit for a request, in milliseconds. */
const REQUEST_MS = 30_000;

/** Records the call, and asks hooks whether it is allowed. */
export function takeAsk({ turn, ask, tool, inputs, rule, actsAs, owner }: CallEvent<"ask.taken">): ToolCallContext {
  const { runId, runnerId, fence } = ask;
  const taken = { integrationId: tool.integrationId, state: "vetting", rule, actsAs, inputs } as const;
  const { askedDigest } = insertCall(turn, ask, taken);
  const { partition, id } = turn.self;
  const open = openCalls.get(turn, partition, runId, id);
  if (open !== undefined) openCalls.put(turn, partition, [runId, id], { ...open, askedDigest });
  const context = { runId, runnerId, fence, vettings: 1, approved: false, runEnded: false };
  askHooks(turn, context, owner);
  return context;
}

/** Joins the call to an open call with the same tool and inputs. The outcome of the open call answers both. */
export function joinCall({ turn, ask, call }: CallEvent<"ask.repeated">): void {
  const { partition, id } = turn.self;
  const { runId, askId } = ask;
  const open = openCalls.get(turn, partition, runId, call.id);
  if (open === undefined) throw new Error("a call that is joined and not open");
  openCalls.remove(turn, partition, runId, id);
  openCalls.put(turn, partition, [runId, call.id], { ...open, asks: [...open.asks, askId] });
  if (call.state === "waiting") sendWaiting(turn, { ...ask, callId: call.id, asks: [askId] }, toWaitingFor(call.rule));
  turn.stop();
}

/** Asks the hooks of `tool.using` about the inputs of the call. */
function askHooks(turn: Turn, context: ToolCallContext, owner: RunOwner): void {
  const { partition } = turn.self;
  const { runId, vettings } = context;
  const subject = owner.eventSubject(turn, partition, getRunOfCall(turn, runId));
  if (subject === null) throw new Error(`the ${owner.kind} of a tool call has no task for events to show`);
  const row = getCall(turn, context);
  const question: WorkQuestion = {
    name: "tool.using",
    id: questionId(vettings),
    work: recordWorkEvent(turn, partition, subject, {
      on: "tool.using",
      occurrence: turn.newId("occ"),
      run: { id: runId },
      event: { at: timeText(turn.now), tool: toName(row), inputs: readInputs(turn, row) },
    }),
  };
  turn.askGate(question);
}

/** Describes to the agent whom a call waits for. */
function toWaitingFor(rule: CallEvent<"gate.waits">["rule"] | null | undefined): string {
  return rule === "person" ? "the approval of the person whose account it uses" : "the assignee's approval";
}

/** Opens the approval. The task goes to the inbox, unless a person's own rule requires the approval. */
export function beginWaiting(
  { turn, rule, approver, digest, owner }: CallEvent<"gate.waits">,
  context: ToolCallContext,
): void {
  const { partition, id } = turn.self;
  const { runId } = context;
  const before = getCall(turn, context);
  const approvalId = turn.newId("apr");
  const task = toStoredText(turn, partition, writeJson(readTask(turn, context, owner)));
  const row = changeCall(turn, context, { state: "waiting", approvalId, requestDigest: digest, task });
  approvals.insert(turn, partition, {
    id: approvalId,
    runId,
    teamId: row.teamId,
    kind: "tool-call",
    request: "",
    tool: toName(row),
    callId: id,
    rule,
    approver,
    inputs: readStoredText(turn, partition, before.inputs),
    reason: "",
    state: "open",
    edited: null,
    note: null,
    askedAt: timeText(turn.now),
    answeredAt: null,
    answeredBy: null,
  });
  turn.wake("unanswered", beginWait(turn, runId));
  sendWaiting(turn, { ...context, callId: id, asks: listAskIds(turn, runId) }, toWaitingFor(rule));
  if (rule !== "person") turn.send(runRef(partition, runId), { type: "call.waits" });
}

/** Asks hooks again, about the inputs that a person edited. */
export function vetEdited(event: CallEvent<"answer.edited">, context: ToolCallContext): ToolCallContext {
  const { turn, inputs, owner } = event;
  recordAnswer(event, { state: "approved", edited: inputs, note: null });
  endWaiting(turn, context);
  sendContinues(turn, context);
  const edited = toStoredText(turn, turn.self.partition, inputs);
  changeCall(turn, context, { state: "vetting", edited });
  addUse(turn, context.runId, { calls: 0, bytes: Buffer.byteLength(inputs) });
  const next = { ...context, vettings: context.vettings + 1, approved: true };
  askHooks(turn, next, owner);
  return next;
}

/** Records a person's approval, and starts the request. */
export function approveCall(event: CallEvent<"answer.approved">, context: ToolCallContext): ToolCallContext {
  recordAnswer(event, { state: "approved", edited: null, note: null });
  endWaiting(event.turn, context);
  sendContinues(event.turn, context);
  beginRequest(event, context);
  return { ...context, approved: true };
}

/** Starts the request. Only a GET may be repeated after a crash. */
export function beginRequest(
  { turn, action, method, owner }: CallEvent<"gate.agreed" | "answer.approved">,
  context: ToolCallContext,
): void {
  const { partition } = turn.self;
  const row = changeCall(turn, context, { state: "running", method, begunAt: timeText(turn.now) });
  // Use the task values from the time of the approval request, so that later changes of marks do not redirect an
  // approved call.
  const task =
    row.task === undefined
      ? readTask(turn, context, owner)
      : (readJson(readStoredText(turn, partition, row.task)) as TaskValues | null);
  startIntegrationRequest(turn, "request", {
    teamId: row.teamId,
    integrationId: row.integrationId,
    block: { kind: "action", name: action },
    values: writeJson({ ...(task && { task }), inputs: readInputs(turn, row) }),
    after: { kind: "tool", name: row.tool },
    actsAs: row.actsAs === "team" ? { kind: "team" } : { kind: "person", userId: row.actsAs },
    timeoutMs: REQUEST_MS,
    again: "after-a-crash",
    lane: "waiting",
    ...(row.requestDigest === undefined ? {} : { approvedDigest: row.requestDigest }),
  });
}

/** Returns the task as the request's expressions see it; null for a run without a task. */
function readTask(turn: Turn, { runId }: ToolCallContext, owner: RunOwner): TaskValues | null {
  const { partition } = turn.self;
  const subject = owner.eventSubject(turn, partition, getRunOfCall(turn, runId));
  return subject === null ? null : toTaskValues(turn, partition, subject);
}

/** Passes a cancellation on to the open call that this call was joined to. */
export function passCancelOn({ turn, runId, askId, callId }: CallEvent<"cancel.elsewhere">): void {
  turn.send(toolCallRef(turn.self.partition, callId), { type: "call.cancel", runId, askId });
}

/**
 * Records that the agent no longer waits under this id. The call continues, because the agent waits under another id or
 * the request is already running.
 */
export function cancelAsk({ turn, runId, askId }: CallEvent<"cancel.one" | "cancel.last">): void {
  const { partition, id } = turn.self;
  const open = openCalls.get(turn, partition, runId, id);
  if (open === undefined || open.cancelled.includes(askId)) return;
  openCalls.put(turn, partition, [runId, id], { ...open, cancelled: [...open.cancelled, askId] });
}
