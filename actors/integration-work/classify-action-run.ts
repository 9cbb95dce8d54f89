import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { INTEGRATION_REQUEST } from "../integrations/requests/integration-request.effects.js";
import { type IntegrationRequestResult, mayPass } from "../integrations/requests/integration-request.js";
import { MAX_ATTEMPTS } from "../outbound/retry-wait.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";
import { readStoredText } from "../tables/text-blobs.js";
import { type ActionRunRow, type BoundTask, isOver } from "./action-run.js";
import type { ResendRun, RunBinding, RunResent, RunScheduled } from "./action-run.messages.js";
import { findActionRun } from "./action-run.table.js";
import { toBindingValues } from "./binding-values.js";

/** Everything that decides what the end of a request means; the row has the rest. */
export interface ActionRunContext {
  readonly integrationId: string;
  readonly attempt: number;
  readonly mostAttempts: number;
}

/** A run that begins. */
export interface RunBegun extends Message {
  readonly type: "run.begun";
  readonly integration: Pick<ResourceRow<IntegrationFields>, "id" | "teamId">;
  readonly action: string;
  readonly binding: BoundTask | null;
  /** JSON text. */
  readonly values: string;
  readonly mostAttempts: number;
}

/** The same, of a run that is done again. */
export interface RunAgain
  extends Omit<RunBegun, "type">,
    Pick<ResendRun, "idempotency">,
    Answered<RunResent | Refusal> {
  readonly type: "resend.begun";
  readonly before: ActionRunRow;
}

interface ResendAnswered extends Answered<RunResent | Refusal> {
  readonly type: "resend.answered";
  readonly answer: RunResent | Refusal;
}

/** Nothing is to be done: the binding is not for this task, or the definition no longer has it. */
interface RunSkipped extends Message {
  readonly type: "run.skipped";
}

interface RunRepeated extends Message {
  readonly type: "run.repeated";
}

/** A request has ended. */
export interface AttemptEnded extends Message {
  readonly type: "attempt.done" | "attempt.retry" | "attempt.failed";
  readonly result: IntegrationRequestResult;
}

export type ActionRunEvent =
  | RunBegun
  | RunAgain
  | ResendAnswered
  | RunSkipped
  | RunRepeated
  | AttemptEnded
  | EffectEnded
  | Woken;

/** Classifies each message to a run of an action. Reads only. */
export function classifyActionRun(
  message: RunBinding | RunScheduled | ResendRun | EffectEnded | Woken,
  { context }: { readonly value: string; readonly context: ActionRunContext },
  turn: TurnReading,
): ActionRunEvent {
  if (message.type === "action.bound") return classifyBound(message, turn);
  if (message.type === "action.due") return classifyDue(message, turn);
  if (message.type === "action.resend") return classifyResend(message, turn);
  if (!isResultOf(INTEGRATION_REQUEST, message)) return message;
  const result = message.result.ok ? message.result.output : withoutResult(turn, message.result.error);
  return { type: toAttemptClass(result, context), result };
}

/** What the end of a request means: success, again later, or failure. */
export function toAttemptClass(
  { code, retryAfterMs }: Pick<IntegrationRequestResult, "code" | "retryAfterMs">,
  { attempt, mostAttempts }: Pick<ActionRunContext, "attempt" | "mostAttempts">,
): AttemptEnded["type"] {
  if (code === null) return "attempt.done";
  if (attempt >= mostAttempts) return "attempt.failed";
  // Access that is being renewed will be there soon.
  return mayPass(code) || (code === "not-connected" && retryAfterMs !== null) ? "attempt.retry" : "attempt.failed";
}

function classifyBound(
  { integrationId, index, event, task, ask }: RunBinding,
  turn: TurnReading,
): RunBegun | RunSkipped | RunRepeated {
  const { partition: workspaceId, id } = turn.self;
  if (findActionRun(turn, workspaceId, integrationId, id) !== undefined) return { type: "run.repeated" };
  const integration = findServed(turn, workspaceId, integrationId);
  const binding = integration?.fields.on[index];
  if (integration === undefined || binding?.event !== event) return { type: "run.skipped" };
  const bound = { to: binding.to, request: integration.fields.actions[binding.action]?.request };
  const values = toBindingValues(turn, { workspaceId, integrationId }, bound, { task, ask });
  if (values === null) return { type: "run.skipped" };
  return {
    ...{ type: "run.begun", integration, action: binding.action, values: JSON.stringify(values) },
    binding: { index, event, taskId: task.id, asksApproval: ask?.isApproval ?? false },
    mostAttempts: MAX_ATTEMPTS,
  };
}

/** A schedule has one attempt: the next run comes by itself. */
function classifyDue({ integrationId, teamId, action }: RunScheduled, turn: TurnReading): RunBegun | RunRepeated {
  const { partition: workspaceId, id } = turn.self;
  if (findActionRun(turn, workspaceId, integrationId, id) !== undefined) return { type: "run.repeated" };
  const integration = { id: integrationId, teamId };
  return { type: "run.begun", integration, action, binding: null, values: "{}", mostAttempts: 1 };
}

function classifyResend(
  { integrationId, runId, idempotency }: ResendRun,
  turn: TurnReading,
): RunAgain | ResendAnswered {
  const { partition: workspaceId } = turn.self;
  const answered = (answer: RunResent | Refusal): ResendAnswered => ({ type: "resend.answered", answer });
  const earlier = findRequestBefore(turn, { idempotency });
  if (isRefusal(earlier)) return answered(earlier);
  if (earlier !== null) return answered({ id: earlier, replayed: true });
  const before = findActionRun(turn, workspaceId, integrationId, runId);
  const integration = findServed(turn, workspaceId, integrationId);
  if (before === undefined || integration === undefined) return answered({ refused: "not-found" });
  if (!isOver(before.state))
    return answered({ refused: "conflict", detail: "The run is not over: it may still do what it is to do." });
  const { action, binding } = before;
  const values = readStoredText(turn, workspaceId, before.values);
  const mostAttempts = binding === null ? 1 : MAX_ATTEMPTS;
  return { type: "resend.begun", integration, action, binding, values, mostAttempts, before, idempotency };
}

/** The integration, unless its workspace was closed. */
function findServed(
  turn: TurnReading,
  workspaceId: string,
  integrationId: string,
): ResourceRow<IntegrationFields> | undefined {
  const isServed = isWorkspaceOpen(turn, workspaceId);
  return isServed ? findResource<IntegrationFields>(turn, workspaceId, "integration", integrationId) : undefined;
}

/** A request whose effect ended without a result. */
function withoutResult(turn: TurnReading, reason: string): IntegrationRequestResult {
  const none = { method: null, origin: null, status: null, success: false, response: null, retryAfterMs: null };
  return { at: new Date(turn.now).toISOString(), tookMs: 0, ...none, captures: "{}", code: "errored", reason };
}
