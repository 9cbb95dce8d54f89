import { toEvent } from "../../runtime/cells/chart.js";
import type { MessageTo } from "../../runtime/cells/reference.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { Delivered, EffectEnded, GateAnswer, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { isOnTeam } from "../access/visibility/visibility.js";
import { writeJson } from "../exact-json.js";
import type { Names } from "../expressions/evaluate.js";
import { integrationNames } from "../expressions/positions.js";
import { toValue } from "../expressions/values.js";
import { INTEGRATION_REQUEST } from "../integrations/requests/integration-request.effects.js";
import { checkInputs } from "../integrations/tool-inputs.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { inputsTextSchema, parseInputs } from "../runners/call-inputs.js";
import { MAX_OPEN_TOOL_CALLS } from "../runners/run-tools.js";
import type { ApprovalRow } from "../runs/approval.js";
import { approvals } from "../runs/approval.table.js";
import { refuseUnlessOpen } from "../runs/approvals.js";
import { refuseNonAssignee } from "../runs/assignee.js";
import { type FrozenTool, readFrozenTools } from "../runs/frozen-tools.js";
import { findCallOfAsk, listOpenCalls, openCalls } from "../runs/open-call.table.js";
import type { RunRow } from "../runs/run.js";
import { runs } from "../runs/run.table.js";
import { runInputs } from "../runs/run-input.table.js";
import { getRunOwner, type RunOwner } from "../runs/run-owner.js";
import type { AskToolCall, CancelToolCall } from "../runs/tool-call.messages.js";
import { toAskedDigest } from "./asked-digest.js";
import { getCall, getRunOfCall, toName } from "./call-row.js";
import { type CallProblem, type CallRequest, findCallRequest, findCallTerms, notOnTeam } from "./call-terms.js";
import { whyNoMoreCalls } from "./call-use.js";
import { toLostResult } from "./request-result.js";
import { toTaskValues } from "./task-values.js";
import type { ToolCallContext, ToolCallRow } from "./tool-call.js";
import type { AnswerCallApproval, toolCallRef } from "./tool-call.messages.js";
import { findRecordedCall, toolCalls } from "./tool-call.table.js";

interface ToolCallState {
  readonly value: string;
  readonly context: ToolCallContext;
}

type CallMessage = MessageTo<ReturnType<typeof toolCallRef>> | GateAnswer | EffectEnded | Woken;

/** The event of a message without effect. No state handles this event. */
const OTHER = toEvent("call.other");

/**
 * Returns the classifier of a call's messages. `owners` are the kinds of owners that the call's run may have. Reads
 * only.
 */
export function classifyToolCall(owners: readonly RunOwner[]) {
  return (message: CallMessage, { value, context }: ToolCallState, turn: TurnReading) => {
    switch (message.type) {
      case "call.ask":
        return classifyAsk(turn, message, owners);
      case "call.cancel":
        return classifyCancel(turn, message);
      case "call.answer":
        return classifyAnswer(turn, message, owners);
      case "call.approver-left":
        return value === "waiting" ? classifyLeaving(turn, context) : OTHER;
      case "call.tool-changed":
        return value === "waiting" ? classifyToolChange(turn, context) : OTHER;
      case "gate.answered":
        return value === "vetting" ? classifyGate(turn, context, message, owners) : OTHER;
      case "effect.ended":
        return value === "running" ? classifyResult(turn, context, message, owners) : OTHER;
      // This case also covers messages of unknown types, which no transition handles.
      default:
        return message;
    }
  };
}

function findOwner(turn: TurnReading, runId: string, owners: readonly RunOwner[]): { run: RunRow; owner: RunOwner } {
  const run = getRunOfCall(turn, runId);
  return { run, owner: getRunOwner(owners, run.owner.kind) };
}

function classifyAsk(turn: TurnReading, ask: AskToolCall, owners: readonly RunOwner[]) {
  const { partition, id } = turn.self;
  const run = runs.get(turn, partition, ask.runId);
  if (run === undefined || run.state === "ended") return toEvent("ask.late", { ask });
  // If the call exists, the message is a repetition.
  if (toolCalls.get(turn, partition, ask.runId, id) !== undefined) return OTHER;
  const repeats = runInputs.get(turn, partition, ask.runId)?.beginning?.repeats;
  if (repeats !== undefined) return classifyRecorded(turn, ask, repeats);
  const open = findEqualCall(turn, ask);
  if (open !== undefined) return classifyRepeat(turn, ask, open);
  const owner = getRunOwner(owners, run.owner.kind);
  const subject = owner.hasGate ? owner.eventSubject(turn, partition, run) : null;
  if (subject === null) return toEvent("ask.refused", { ask, why: "This run cannot call tools." });
  const refused = whyNoMoreCalls(turn, partition, ask.runId);
  if (refused !== null) return toEvent("ask.refused", { ask, why: refused });
  const frozen = findFrozen(turn, ask);
  if (frozen === undefined) {
    const message = `This run has no tool ${ask.server}.${ask.tool}.`;
    return toEvent("ask.failed", { ask, tool: undefined, actsAs: "", code: "not-allowed", message });
  }
  const opener = owner.opener?.(turn, partition, run) ?? null;
  const terms = findCallTerms(turn, partition, { teamId: run.teamId, frozen, opener });
  if ("code" in terms) return toEvent("ask.failed", { ask, tool: frozen, actsAs: "", ...terms });
  const task = toTaskValues(turn, partition, subject);
  const checked = checkCallInputs(frozen, parseInputs(ask.inputs), task);
  if ("errors" in checked) {
    const message = `The inputs of ${frozen.name} are wrong: ${toErrorsText(checked.errors)}.`;
    return toEvent("ask.failed", { ask, tool: frozen, actsAs: terms.actsAs, code: "invalid", message });
  }
  return toEvent("ask.taken", { ask, tool: frozen, inputs: checked.inputs, ...terms, owner });
}

function classifyRecorded(turn: TurnReading, ask: AskToolCall, repeats: string) {
  const { partition } = turn.self;
  const { runId } = ask;
  const refused = whyNoMoreCalls(turn, partition, runId);
  if (refused !== null) return toEvent("ask.refused", { ask, why: refused });
  const wanted = { runId, repeats, askedDigest: toAskedDigest(ask) };
  return toEvent("ask.recorded", { ask, recorded: findRecordedCall(turn, partition, wanted) });
}

/** Finds an open call of the run with the same tool and inputs; undefined if there is none. */
function findEqualCall(turn: TurnReading, ask: AskToolCall): ToolCallRow | undefined {
  const { partition, id } = turn.self;
  const others = listOpenCalls(turn, partition, ask.runId).filter(({ callId }) => callId !== id);
  if (others.length === 0) return undefined;
  const askedDigest = toAskedDigest(ask);
  return others
    .filter((other) => (other.askedDigest ?? askedDigest) === askedDigest)
    .map(({ callId }) => toolCalls.get(turn, partition, ask.runId, callId))
    .find((call) => call?.askedDigest === askedDigest);
}

function classifyRepeat(turn: TurnReading, ask: AskToolCall, call: ToolCallRow) {
  const asks = openCalls.get(turn, turn.self.partition, ask.runId, call.id)?.asks ?? [];
  if (asks.length < MAX_OPEN_TOOL_CALLS) return toEvent("ask.repeated", { ask, call });
  return toEvent("ask.refused", { ask, why: `The same call was requested ${asks.length} times and has not ended.` });
}

function findFrozen(turn: TurnReading, { runId, server, tool }: Pick<AskToolCall, "runId" | "server" | "tool">) {
  const beginning = runInputs.get(turn, turn.self.partition, runId)?.beginning ?? {};
  const tools = readFrozenTools(turn, turn.self.partition, beginning);
  return tools.find((one) => one.server === server && one.tool === tool);
}

type Checked = { readonly inputs: string } | { readonly errors: Extract<Refusal, { refused: "invalid" }>["errors"] };

/** Returns the JSON text of a call's inputs with defaults, or the errors in the inputs. */
function checkCallInputs({ inputs: declared }: FrozenTool, given: object, task: object | null): Checked {
  const names: Names = task === null ? {} : { task: toValue(task, integrationNames.task ?? { kind: "dyn" }) };
  const checked = checkInputs(declared, given, names);
  if ("errors" in checked) return checked;
  const inputs = writeJson(checked.inputs);
  const bounded = inputsTextSchema.safeParse(inputs);
  return bounded.success ? { inputs } : { errors: [{ path: "", message: "are too large with their defaults" }] };
}

function toErrorsText(errors: Extract<Checked, { readonly errors: unknown }>["errors"]): string {
  return errors.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}

function classifyCancel(turn: TurnReading, cancel: CancelToolCall) {
  const { partition, id } = turn.self;
  const { runId, askId } = cancel;
  const own = openCalls.get(turn, partition, runId, id);
  if (own?.asks.includes(askId) !== true) {
    const callId = findCallOfAsk(turn, partition, { runId, askId });
    return callId === undefined ? OTHER : toEvent("cancel.elsewhere", { ...cancel, callId });
  }
  const isLast = own.asks.every((ask) => ask === askId || own.cancelled.includes(ask));
  return toEvent(isLast ? "cancel.last" : "cancel.one", cancel);
}

function classifyGate(
  turn: TurnReading,
  context: ToolCallContext,
  { id, refused }: GateAnswer,
  owners: readonly RunOwner[],
) {
  if (id !== questionId(context.vettings)) return OTHER;
  if (refused !== null) return toEvent("gate.refused", { why: refused });
  const row = getCall(turn, context);
  const { run, owner } = findOwner(turn, context.runId, owners);
  const found = findRequest(turn, row);
  if ("code" in found) return toEvent("gate.unusable", found);
  const { rule, actsAs } = row;
  if (rule === null || context.approved) return toEvent("gate.agreed", { ...found, owner });
  const assignee = () => owner.assignee(turn, turn.self.partition, run) ?? null;
  const { digest } = found;
  return toEvent("gate.waits", { rule, approver: rule === "person" ? actsAs : assignee(), owner, digest });
}

/** Returns the id of a question to hooks about a call. `vettings` is the question's number, counted from 1. */
export function questionId(vettings: number): string {
  return `tool.using ${vettings}`;
}

function findRequest(turn: TurnReading, row: ToolCallRow): CallRequest | CallProblem {
  return findCallRequest(turn, { ...row, workspaceId: turn.self.partition, name: toName(row) });
}

function classifyAnswer(turn: TurnReading, answer: AnswerCallApproval, owners: readonly RunOwner[]) {
  const refuse = (refusal: Refusal) => toEvent("answer.refused", { ...answer, refusal });
  const before = findRequestBefore(turn, answer);
  if (isRefusal(before)) return refuse(before);
  const { partition, id } = turn.self;
  const repeated = before === null ? undefined : approvals.get(turn, partition, answer.runId, before);
  if (repeated !== undefined) return toEvent("answer.repeated", { ...answer, approval: repeated });
  const approval = approvals.get(turn, partition, answer.runId, answer.approvalId);
  const row = toolCalls.get(turn, partition, answer.runId, id);
  if (approval?.callId !== id || row === undefined) return refuse({ refused: "not-found" });
  const { run, owner } = findOwner(turn, answer.runId, owners);
  const notAllowed =
    refuseUnlessApprover(turn, { row, run, owner }, answer.by) ?? refuseUnlessOpen(approval, answer.by);
  if (notAllowed !== null) return refuse(notAllowed);
  if (answer.verdict === "dismissed") return toEvent("answer.dismissed", { ...answer, approval });
  if (answer.edited !== null) return classifyEdit(turn, { ...answer, edited: answer.edited }, { approval, owner, run });
  const found = findRequest(turn, row);
  return "code" in found
    ? toEvent("answer.in-vain", { ...answer, approval, ...found })
    : toEvent("answer.approved", { ...answer, approval, owner, ...found });
}

/**
 * Returns null if the person `by` may answer, otherwise a refusal (403). If a person's own rule requires the approval,
 * only that person may answer. Otherwise only the task's current assignee may answer.
 */
function refuseUnlessApprover(
  turn: TurnReading,
  { row, run, owner }: { readonly row: ToolCallRow; readonly run: RunRow; readonly owner: RunOwner },
  by: string,
): Refusal | null {
  if (row.rule !== "person") {
    return refuseNonAssignee({ assignee: owner.assignee(turn, turn.self.partition, run) ?? null }, by);
  }
  if (row.actsAs === by) return null;
  const detail = "Only the person whose account the call uses can do this.";
  return { refused: "forbidden", title: "Not the approver of the call", detail };
}

/**
 * Returns `approver.gone` if only a person who is no longer on the team may answer the approval. Returns an event
 * without effect if that person is on the team again, or if another person may answer.
 */
function classifyLeaving(turn: TurnReading, context: ToolCallContext) {
  const row = getCall(turn, context);
  const { rule, actsAs, teamId } = row;
  if (rule !== "person" || isOnTeam(turn, actsAs, turn.self.partition, teamId)) return OTHER;
  return toEvent("approver.gone", notOnTeam(toName(row)));
}

/**
 * Returns `tool.gone` if the call can no longer be made, otherwise an event without effect. Does not compare the
 * definition with the requested one: that comparison is made when a person approves the call.
 */
function classifyToolChange(turn: TurnReading, context: ToolCallContext) {
  const { requestDigest: _approved, ...row } = getCall(turn, context);
  const found = findRequest(turn, row);
  return "code" in found ? toEvent("tool.gone", found) : OTHER;
}

function classifyEdit(
  turn: TurnReading,
  answer: AnswerCallApproval & { readonly edited: string },
  { approval, owner, run }: { readonly approval: ApprovalRow; readonly owner: RunOwner; readonly run: RunRow },
) {
  const refuse = (refusal: Refusal) => toEvent("answer.refused", { ...answer, refusal });
  const { partition } = turn.self;
  const row = getCall(turn, answer);
  const frozen = findFrozen(turn, { runId: run.id, server: row.integration, tool: row.tool });
  const subject = owner.eventSubject(turn, partition, run);
  const task = subject === null ? null : toTaskValues(turn, partition, subject);
  if (frozen === undefined) return refuse({ refused: "not-found" });
  const checked = checkCallInputs(frozen, parseInputs(answer.edited), task);
  if ("inputs" in checked) return toEvent("answer.edited", { ...answer, approval, owner, inputs: checked.inputs });
  const errors = checked.errors.map(({ path, message }) => ({ path: toPath(path), message }));
  return refuse({ refused: "invalid", errors });
}

/** Converts the path of an input to its path in the body of an answer that edits the inputs. */
function toPath(path: string): string {
  return path === "" || path.startsWith("[") ? `inputs${path}` : `inputs.${path}`;
}

function classifyResult(
  turn: TurnReading,
  context: ToolCallContext,
  message: EffectEnded,
  owners: readonly RunOwner[],
) {
  if (!isEffectResult(INTEGRATION_REQUEST, message)) return OTHER;
  const { partition, id } = turn.self;
  if (toolCalls.get(turn, partition, context.runId, id) === undefined) return toEvent("request.of-nothing");
  const { owner } = findOwner(turn, context.runId, owners);
  const result = message.result.ok ? message.result.output : toLostResult(turn.now);
  return toEvent(result.success ? "request.done" : "request.failed", { result, owner });
}

/** A classified message, with the data that its transition needs. */
export type ToolCallEvent = ReturnType<ReturnType<typeof classifyToolCall>>;

/** The event of one or several types, as its transition receives it. */
export type CallEvent<Type extends ToolCallEvent["type"]> = Delivered<Extract<ToolCallEvent, { readonly type: Type }>>;
