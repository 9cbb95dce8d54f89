/**
 * One run of an integration's action, `action-run/<id>`, started by a task binding, a schedule or a resend. The row
 * stores the result. The actor stops at the end of the run, and the row prevents a second start.
 *
 * 1. A binding's request may be sent several times: each of up to 8 attempts carries the same `service-message-id`. A
 *    scheduled run makes one attempt; after a process kill, the service repeats the request only if its method is GET.
 * 2. When a binding's last attempt fails, the run adds one note to the task.
 *
 * | state      | event (message)                                  | next       | also                               |
 * |------------|--------------------------------------------------|------------|------------------------------------|
 * | new        | run.begun (action.bound, action.due)             | attempting | stores the row; sends the request  |
 * | new        | run.skipped (action.bound, if the binding does   | new        | stores no row; stops               |
 * |            | not apply to the task or was removed)            |            |                                    |
 * | new        | run.repeated (action.bound or action.due, if the | new        | stops                              |
 * |            | run has a row)                                   |            |                                    |
 * | new        | resend.begun (action.resend)                     | attempting | like run.begun, with the values of |
 * |            |                                                  |            | the earlier run                    |
 * | new        | resend.answered (action.resend, if the request   | new        | replies; stops                     |
 * |            | is repeated or refused)                          |            |                                    |
 * | attempting | attempt.done (effect.ended, success)             | done       | sets marks for a binding; stops    |
 * | attempting | attempt.retry (effect.ended, retryable, attempts | waiting    | wakes after 2 s, doubling up to    |
 * |            | left)                                            |            | 1 h, or when the host says         |
 * | attempting | attempt.failed (effect.ended, other failures)    | failed     | adds a note to a binding's task;   |
 * |            |                                                  |            | stops                              |
 * | waiting    | woken                                            | attempting | sends the request again            |
 */
import { createChart, type InTurn, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../../runtime/turns/turn.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { INTEGRATION_REQUEST } from "../../integrations/requests/integration-request.effects.js";
import { type IntegrationRequestResult, mayPass } from "../../integrations/requests/integration-request.js";
import { MAX_ATTEMPTS } from "../../outbound/http/retry-wait.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findRequestBefore } from "../../resources/repeated-request.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import { readStoredText } from "../../tables/text-blobs.js";
import { isOver } from "./action-run.js";
import {
  actionRunRef,
  type ResendRun,
  type RunBinding,
  type RunResent,
  type RunScheduled,
} from "./action-run.messages.js";
import { findActionRun } from "./action-run.table.js";
import { type ActionRunContext, begin, beginAgain, finish, retry, waitForRetry } from "./action-run.transitions.js";
import { toBindingValues } from "./binding-values.js";

const { on, machine } = createChart<ActionRunContext, ReturnType<typeof classifyActionRun>>();

const actionRunMachine = machine({
  id: "action-run",
  context: { integrationId: "", attempt: 1, mostAttempts: 1 },
  initial: "new",
  states: {
    new: {
      on: {
        ...on("run.begun", "attempting", ({ turn, ...start }) => begin(turn, start)),
        ...on("run.skipped", stop),
        ...on("run.repeated", stop),
        ...on("resend.begun", "attempting", beginAgain),
        ...on("resend.answered", ({ turn, answer }) => turn.reply(answer), stop),
      },
    },
    attempting: {
      on: {
        ...on("attempt.done", "done", (event, context) => finish(event, context, "done")),
        ...on("attempt.retry", "waiting", waitForRetry),
        ...on("attempt.failed", "failed", (event, context) => finish(event, context, "failed")),
      },
    },
    waiting: { on: on("woken", "attempting", retry) },
    done: {},
    failed: {},
  },
});

function stop({ turn }: InTurn): void {
  turn.stop();
}

/** See the table above. */
export const actionRunActor = defineActor(actionRunRef, {
  machine: actionRunMachine,
  classify: classifyActionRun,
  version: 1,
});

/** Classifies each message to an action run. Only reads. */
function classifyActionRun(
  message: RunBinding | RunScheduled | ResendRun | EffectEnded | Woken,
  { context }: { readonly context: ActionRunContext },
  turn: TurnReading,
) {
  if (message.type === "action.bound") return classifyBound(message, turn);
  if (message.type === "action.due") return classifyDue(message, turn);
  if (message.type === "action.resend") return classifyResend(message, turn);
  if (!isEffectResult(INTEGRATION_REQUEST, message)) return message;
  const result = message.result.ok ? message.result.output : withoutResult(turn, message.result.error);
  return toEvent(toAttemptClass(result, context), { result });
}

/** Classifies the result of a request: success, failure with a retry, or final failure. */
function toAttemptClass({ code, retryAfterMs }: IntegrationRequestResult, { attempt, mostAttempts }: ActionRunContext) {
  if (code === null) return "attempt.done";
  if (attempt >= mostAttempts) return "attempt.failed";
  // `not-connected` with a wait means that the connection's token is being renewed and will be available soon.
  return mayPass(code) || (code === "not-connected" && retryAfterMs !== null) ? "attempt.retry" : "attempt.failed";
}

function classifyBound({ integrationId, index, event, task, ask }: RunBinding, turn: TurnReading) {
  const { partition: workspaceId, id } = turn.self;
  if (findActionRun(turn, workspaceId, integrationId, id) !== undefined) return toEvent("run.repeated");
  const integration = findServed(turn, workspaceId, integrationId);
  const binding = integration?.fields.on[index];
  if (integration === undefined || binding?.event !== event) return toEvent("run.skipped");
  const bound = { to: binding.to, request: integration.fields.actions[binding.action]?.request };
  const values = toBindingValues(turn, { workspaceId, integrationId }, bound, { task, ask });
  if (values === null) return toEvent("run.skipped");
  return toEvent("run.begun", {
    integration,
    action: binding.action,
    values: JSON.stringify(values),
    binding: { index, event, taskId: task.id, asksApproval: ask?.isApproval ?? false },
    mostAttempts: MAX_ATTEMPTS,
  });
}

/**
 * Classifies a schedule's message. A scheduled run makes only one attempt, because the schedule starts the next run
 * anyway.
 */
function classifyDue({ integrationId, teamId, action }: RunScheduled, turn: TurnReading) {
  const { partition: workspaceId, id } = turn.self;
  if (findActionRun(turn, workspaceId, integrationId, id) !== undefined) return toEvent("run.repeated");
  const integration = { id: integrationId, teamId };
  return toEvent("run.begun", { integration, action, binding: null, values: "{}", mostAttempts: 1 });
}

function classifyResend(message: ResendRun, turn: TurnReading) {
  const { integrationId, runId } = message;
  const { partition: workspaceId } = turn.self;
  const answered = (answer: RunResent | Refusal) => toEvent("resend.answered", { ...message, answer });
  const earlier = findRequestBefore(turn, message);
  if (isRefusal(earlier)) return answered(earlier);
  if (earlier !== null) return answered({ id: earlier, replayed: true });
  const before = findActionRun(turn, workspaceId, integrationId, runId);
  const integration = findServed(turn, workspaceId, integrationId);
  if (before === undefined || integration === undefined) return answered({ refused: "not-found" });
  if (!isOver(before.state))
    return answered({
      refused: "conflict",
      detail: "The action run has not ended and may still succeed. Wait until it has ended.",
    });
  const { action, binding } = before;
  const values = readStoredText(turn, workspaceId, before.values);
  const mostAttempts = binding === null ? 1 : MAX_ATTEMPTS;
  return toEvent("resend.begun", { ...message, integration, action, binding, values, mostAttempts, before });
}

/** Finds the integration; undefined if it was removed or its workspace is closed. */
function findServed(
  turn: TurnReading,
  workspaceId: string,
  integrationId: string,
): ResourceRow<IntegrationFields> | undefined {
  const isServed = findResource(turn, workspaceId, "workspace", workspaceId) !== undefined;
  return isServed ? findResource<IntegrationFields>(turn, workspaceId, "integration", integrationId) : undefined;
}

/** Returns a failed result for a request whose effect ended without a result. */
function withoutResult(turn: TurnReading, reason: string): IntegrationRequestResult {
  const none = { method: null, origin: null, status: null, success: false, response: null, retryAfterMs: null };
  return { at: new Date(turn.now).toISOString(), tookMs: 0, ...none, captures: "{}", code: "errored", reason };
}
