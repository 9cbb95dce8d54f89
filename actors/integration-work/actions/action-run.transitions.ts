import { createHash } from "node:crypto";
import type { InTurn } from "../../../runtime/cells/chart.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { IntegrationRequestResult } from "../../integrations/requests/integration-request.js";
import { startIntegrationRequest } from "../../integrations/requests/start-request.js";
import { retryWaitMs } from "../../outbound/http/retry-wait.js";
import { type Keyed, recordRequest } from "../../resources/repeated-request.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import { readStoredText, toStoredText } from "../../tables/text-blobs.js";
import { taskRef } from "../../tasks/task.messages.js";
import { teamMarksRef } from "../../tasks/team-marks.messages.js";
import { timeText } from "../../time-text.js";
import { scheduleRef } from "../schedules/schedule.messages.js";
import { actionRunCounters } from "../work-counters.js";
import {
  ACTION_TIMEOUT_MS,
  type ActionAttempt,
  type ActionRunRow,
  type BoundTask,
  MAX_BODY_BYTES,
} from "./action-run.js";
import type { RunResent } from "./action-run.messages.js";
import { actionRuns, findActionRun, insertActionRun } from "./action-run.table.js";

/** The transitions of an action run. `action-run.machine.ts` lists when each transition runs. */

/** The part of a run's state that is needed to classify the result of a request. The row stores everything else. */
export interface ActionRunContext {
  readonly integrationId: string;
  readonly attempt: number;
  readonly mostAttempts: number;
}

/** The initial values of a run. */
interface Beginning {
  readonly integration: Pick<ResourceRow<IntegrationFields>, "id" | "teamId">;
  readonly action: string;
  readonly binding: BoundTask | null;
  /** The values for the action's expressions, as JSON text. */
  readonly values: string;
  readonly mostAttempts: number;
}

/** A request has ended. */
interface AttemptEnded extends InTurn {
  readonly result: IntegrationRequestResult;
}

/** Stores the run and starts its first request. */
export function begin(turn: Turn, start: Beginning, resends: string | null = null): ActionRunContext {
  const { integration, action, binding, mostAttempts } = start;
  const row: ActionRunRow = {
    id: turn.self.id,
    integrationId: integration.id,
    teamId: integration.teamId ?? "",
    action,
    binding,
    state: "attempting",
    begunAt: timeText(turn.now),
    endedAt: null,
    retryAt: null,
    attempts: [],
    values: toStoredText(turn, turn.self.partition, start.values),
    resends,
    resentAs: null,
  };
  insertActionRun(turn, row);
  const context = { integrationId: integration.id, attempt: 1, mostAttempts };
  startRequest(turn, row, context);
  return context;
}

/** Repeats an earlier run. */
export function beginAgain({
  turn,
  before,
  idempotency,
  ...start
}: Beginning & Keyed & { readonly turn: Turn<RunResent>; readonly before: ActionRunRow }): ActionRunContext {
  recordRequest(turn, { idempotency }, turn.self.id);
  actionRuns.put(turn, turn.self.partition, before, { ...before, resentAs: turn.self.id });
  const context = begin(turn, start, before.id);
  turn.reply({ id: turn.self.id, replayed: false });
  return context;
}

/** Sets the wake-up for the next attempt. */
export function waitForRetry({ turn, result }: AttemptEnded, context: ActionRunContext): void {
  const atMs = turn.now + retryWaitMs(context.attempt, result.retryAfterMs);
  const row = getRow(turn, context);
  const attempts = addAttempt(row, context, result);
  actionRuns.put(turn, turn.self.partition, row, { ...row, state: "waiting", retryAt: timeText(atMs), attempts });
  turn.wake("retry", atMs);
}

/** Starts the next attempt after the wait for the retry. */
export function retry({ turn }: InTurn, context: ActionRunContext): ActionRunContext {
  const row = getRow(turn, context);
  const after: ActionRunRow = { ...row, state: "attempting", retryAt: null };
  actionRuns.put(turn, turn.self.partition, row, after);
  const next = { ...context, attempt: context.attempt + 1 };
  startRequest(turn, after, next);
  return next;
}

/**
 * Records how the run ended. For a binding, a success sets marks and a failure adds a note to the task. A scheduled run
 * notifies its schedule, unless the run is a resend.
 */
export function finish({ turn, result }: AttemptEnded, context: ActionRunContext, state: "done" | "failed"): void {
  const { partition: workspaceId, id } = turn.self;
  const row = getRow(turn, context);
  const { integrationId, teamId, action, binding } = row;
  const attempts = addAttempt(row, context, result);
  actionRuns.put(turn, workspaceId, row, { ...row, state, endedAt: timeText(turn.now), retryAt: null, attempts });
  turn.count(actionRunCounters[state]);
  turn.stop();
  if (binding === null) {
    if (row.resends === null)
      turn.send(scheduleRef({ workspaceId, integrationId, action }), { type: "action.over", runId: id });
    return;
  }
  const { taskId } = binding;
  if (state === "failed") return reportFailure(turn, { row, taskId, attempt: context.attempt }, result);
  const marks = Object.entries(result.marks ?? {}).map(([kind, value]) => ({ kind, value }));
  if (marks.length > 0) turn.send(teamMarksRef(workspaceId, teamId), { type: "marks.set", taskId, marks });
}

function reportFailure(
  turn: Turn,
  { row, taskId, attempt }: { readonly row: ActionRunRow; readonly taskId: string; readonly attempt: number },
  { code, reason }: IntegrationRequestResult,
): void {
  const { partition: workspaceId } = turn.self;
  const { integrationId, action } = row;
  const fields = findResource<IntegrationFields>(turn, workspaceId, "integration", integrationId)?.fields;
  const end = attempt > 1 ? ` It was tried ${attempt} times and will not be retried.` : "";
  const text = `The action ${action} failed (${code}): ${reason ?? code}.${end}`;
  const from = `integration ${fields?.integration ?? integrationId}`;
  // The key depends on the note's text, so repeated identical failures add only one note to the task. The run rows have
  // the details of each failure.
  const key = `${integrationId} ${createHash("sha256").update(text).digest("hex")}`;
  turn.send(taskRef(workspaceId, taskId), { type: "note", from, text, key });
}

function startRequest(turn: Turn, row: ActionRunRow, { attempt }: ActionRunContext): void {
  const { id, integrationId, teamId, action, binding } = row;
  startIntegrationRequest(turn, String(attempt), {
    teamId,
    integrationId,
    block: { kind: "action", name: action },
    lane: "background",
    values: readStoredText(turn, turn.self.partition, row.values),
    asking: binding?.event === "task.asked" ? { taskId: binding.taskId, isApproval: binding.asksApproval } : null,
    after: binding === null ? null : { kind: "binding", index: binding.index },
    actsAs: { kind: "team" },
    timeoutMs: ACTION_TIMEOUT_MS,
    // After a crash, the effect does not repeat a binding's request: the run makes its next attempt instead. A
    // scheduled run has only one attempt, so the effect repeats its request if the request's method allows repetition.
    again: binding === null ? "after-a-crash" : "never",
    messageId: `msg_${id.slice(id.indexOf("_") + 1)}`,
  });
}

/** Appends an attempt. Only the last attempt keeps its response body. */
function addAttempt(
  { attempts }: ActionRunRow,
  { attempt: n }: ActionRunContext,
  result: IntegrationRequestResult,
): readonly ActionAttempt[] {
  const { at, tookMs, method, origin, status, code, retryAfterMs } = result;
  const reason = result.reason ?? result.unread ?? null;
  const body = Buffer.from(result.response ?? "")
    .subarray(0, MAX_BODY_BYTES)
    .toString()
    .replace(/\uFFFD$/, "");
  const last = { n, at, tookMs, method, origin, status, body, code, reason, retryAfterMs };
  return [...attempts.map((earlier) => ({ ...earlier, body: "" })), last];
}

function getRow(turn: Turn, { integrationId }: ActionRunContext): ActionRunRow {
  const row = findActionRun(turn, turn.self.partition, integrationId, turn.self.id);
  if (row === undefined) throw new Error("a run of an action without its row");
  return row;
}
