import type { GatekeeperAnswer } from "../../runtime/cells/actor-type.js";
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import type { WorkEvent } from "../events/catalogue.js";
import { workEvents } from "../events/catalogue.js";
import { MAX_ATTEMPTS, retryWaitMs } from "../outbound/http/retry-wait.js";
import { findResource } from "../resources/resource.table.js";
import { type NoteTask, taskRef } from "../tasks/task.messages.js";
import { tasks } from "../tasks/task.table.js";
import { timeText } from "../time-text.js";
import { DELIVERY_EFFECT, type DeliveryInput } from "./delivery/delivery.effects.js";
import type { DeliveryResult } from "./delivery/delivery-result.js";
import { BEFORE_EVENT_TIMEOUT, type HookFailureCode } from "./delivery/failure-codes.js";
import { isRetried, MAX_PLACE_WAIT_MS } from "./delivery/retry-policy.js";
import type { HookFields } from "./hook.js";
import { countEnded, countWaiting } from "./hook-health.table.js";
import type { AttemptRow, HookOccurrence } from "./hook-occurrence.js";
import type { FireHook } from "./hook-occurrence.messages.js";
import { EXHAUSTED } from "./hook-occurrence.queries.js";
import { retainTaskForReceiver } from "./hook-occurrence.retention.js";
import { findHookOccurrence, hookOccurrences, storeAttempt, storeEnded } from "./hook-occurrence.table.js";
import { reportAttempt, reportGivenUp, reportRefusal } from "./hook-report.js";
import { type ChangeFired, recordFired, recordNamedCause } from "./loop-guard.js";
import { type HookOccurrenceContext, leftAfter, type StepOutcome, toStepOutcome } from "./step-outcome.js";

/** The transitions of a hook occurrence. `hook-occurrence.machine.ts` lists when each one runs. */

/** A hook occurrence starts. */
interface Firing extends InTurn {
  readonly fire: FireHook;
}

/** The request of a step has ended. */
interface RequestEnded extends InTurn {
  readonly result: DeliveryResult;
  readonly outcome: StepOutcome;
}

/** Starts the first request. `change` is the loop guard's count; null if the occurrence is not counted. */
export function fire({
  turn,
  fire: fired,
  change,
}: Firing & { readonly change: ChangeFired | null }): HookOccurrenceContext {
  const { hookId, work, gate } = fired;
  const hook = findHook(turn, turn.self.partition, hookId);
  const started = { hook: hook?.key ?? "", state: "attempting", code: null, reason: null, endedAt: null } as const;
  recordHookOccurrence(turn, fired, started);
  retainTaskForReceiver(turn, work);
  recordNamedCause(turn, work);
  if (change !== null) recordFired(turn, fired, change);
  const isBefore = workEvents[work.on].timing === "before" && gate !== undefined;
  const timeoutMs = (hook?.timeoutSeconds ?? 10) * 1_000;
  const context: HookOccurrenceContext = {
    hookId,
    hook: hook?.key ?? "",
    on: work.on,
    teamId: work.teamId,
    attempt: 1,
    mostAttempts: work.test === true ? 1 : MAX_ATTEMPTS,
    step: 0,
    requests: 1,
    steps: hook?.steps.map((step) => step.name) ?? [],
    timeoutMs,
    leftMs: timeoutMs,
    blocks: hook?.failure === "block",
    deadlineMs: isBefore ? Date.parse(work.event.at) + MAX_PLACE_WAIT_MS : 0,
    gate: gate ?? null,
  };
  startRequest(turn, context, work);
  return context;
}

/** Records that the loop guard stopped the occurrence. */
export function stopLoop({ turn, fire: fired, why }: Firing & { readonly why: string }): void {
  const hook = findHook(turn, turn.self.partition, fired.hookId)?.key ?? "";
  recordLoop(turn, fired, hook, why);
}

/** Writes a new hook occurrence with its event. */
function recordHookOccurrence(
  turn: Turn,
  { hookId, work, resends }: FireHook,
  started: Pick<HookOccurrence, "hook" | "state" | "code" | "endedAt" | "reason">,
): HookOccurrence {
  const workspaceId = turn.self.partition;
  const { hook, state, code, endedAt, reason } = started;
  const hookOccurrence: HookOccurrence = {
    id: turn.self.id,
    hookId,
    hook,
    work,
    firedAt: timeText(turn.now),
    state,
    code,
    reason,
    refused: null,
    endedAt,
    retryAt: null,
    resends,
    resentAs: null,
  };
  hookOccurrences.insert(turn, workspaceId, hookOccurrence);
  const original = resends === null ? undefined : findHookOccurrence(turn, workspaceId, work.teamId, resends);
  if (original !== undefined) {
    hookOccurrences.put(turn, workspaceId, original, { ...original, resentAs: hookOccurrence.id });
  }
  return hookOccurrence;
}

/**
 * Records a hook occurrence that the loop guard stops, reports it on the task, and stops the actor without a request.
 */
function recordLoop(turn: Turn, fire: FireHook, hook: string, why: string): void {
  const { work } = fire;
  const endedAt = timeText(turn.now);
  const { id } = recordHookOccurrence(turn, fire, { hook, state: "failed", code: "loop", reason: why, endedAt });
  countEnded(turn, fire.hookId, "failed");
  const fired = { hookOccurrenceId: id, hookId: fire.hookId, teamId: work.teamId, on: work.on };
  turn.report(reportGivenUp(fired, { code: "loop", attempts: 0, status: null }));
  const text = `The hook was stopped (loop): ${why}.`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: id };
  turn.send(taskRef(turn.self.partition, work.task.id), note);
  turn.stop();
}

/** Starts the request of the current step; `context.requests` already counts it. */
function startRequest(turn: Turn, context: HookOccurrenceContext, memo?: WorkEvent): void {
  const { teamId, hookId, step, leftMs: timeoutMs, deadlineMs } = context;
  const all = { teamId, hookId, step, timeoutMs };
  const input: DeliveryInput = deadlineMs === 0 ? all : { ...all, deadlineMs };
  turn.start(DELIVERY_EFFECT.request(String(context.requests), input, memo));
}

/** Starts the next step after a completed one. */
export function startNextStep({ turn, result }: RequestEnded, context: HookOccurrenceContext): HookOccurrenceContext {
  recordAttempt(turn, result, context);
  const leftMs = leftAfter(result, context);
  const next = { ...context, leftMs, step: context.step + 1, requests: context.requests + 1 };
  startRequest(turn, next);
  return next;
}

/** Records an attempt on a `before` event that a process kill interrupted, and repeats the step. */
export function startAgain({ turn, result }: RequestEnded, context: HookOccurrenceContext): HookOccurrenceContext {
  recordAttempt(turn, result, context);
  const next = { ...context, attempt: context.attempt + 1, requests: context.requests + 1 };
  startRequest(turn, next);
  return next;
}

/** Repeats the step after its wait. */
export function retry({ turn }: InTurn, context: HookOccurrenceContext): HookOccurrenceContext {
  countWaiting(turn, context.hookId, -1);
  retainTaskForReceiver(turn, recordState(turn, context, { state: "attempting", retryAt: null }).work);
  const next = { ...context, attempt: context.attempt + 1, requests: context.requests + 1 };
  startRequest(turn, next);
  return next;
}

/** Records the failed attempt and schedules the next one. */
export function waitForRetry({ turn, result }: RequestEnded, context: HookOccurrenceContext): void {
  recordAttempt(turn, result, context);
  // If the receiver asked for a longer wait, that wait applies.
  const atMs = turn.now + retryWaitMs(context.attempt, result.retryAfterMs);
  recordState(turn, context, { state: "waiting", retryAt: timeText(atMs) });
  countWaiting(turn, context.hookId, 1);
  turn.wake("retry", atMs);
}

/**
 * Fails the current step with `timeout`. Call this when the hooks on the event have exceeded their common time limit.
 */
export function failOutOfTime({ turn }: InTurn, context: HookOccurrenceContext): void {
  turn.cancelEffect(String(context.requests));
  const step = context.steps[context.step] ?? "";
  const none = { at: timeText(turn.now), tookMs: 0, requestHeaders: {}, status: null, body: "" };
  const result: DeliveryResult = { ...none, step, code: "timeout", reason: BEFORE_EVENT_TIMEOUT };
  finish({ turn, result, outcome: toStepOutcome(result, context) }, context);
}

/**
 * Records the result, stops the actor, and answers the event if it waits. Reports a failure on the task, if the failure
 * still concerns the task.
 */
export function finish({ turn, result, outcome }: RequestEnded, context: HookOccurrenceContext): void {
  const { hookId, hook, on, teamId } = context;
  const hookOccurrence = outcome.code === null ? null : getHookOccurrence(turn, context);
  const superseded = hookOccurrence !== null && context.gate === null && hasTaskMovedOn(turn, hookOccurrence.work);
  const code = superseded ? "superseded" : outcome.code;
  const { next: state, refused } = outcome;
  const { partition: workspaceId, id } = turn.self;
  const endedAt = timeText(turn.now);
  const ended = { state, code, reason: outcome.reason, refused, endedAt, attempt: toAttempt(result, context) };
  turn.report(reportAttempt(result.code, result.tookMs));
  storeEnded(turn, workspaceId, { id, teamId, hookId, hook, on, state: "attempting", retryAt: null }, ended);
  countEnded(turn, hookId, state);
  if (context.gate !== null) {
    const answer: GatekeeperAnswer = { type: "keeper.answered", key: context.gate.key, refused };
    turn.send(context.gate.replyTo, answer);
  }
  turn.stop();
  const isOutOfAttempts = outcome.code !== null && isExhausted(context, outcome.code);
  if (isOutOfAttempts) turn.count(EXHAUSTED);
  if (!isTest(context)) reportEnd(turn, context, { state, code, status: result.status });
  if (hookOccurrence === null || code === null || superseded || refused !== null || hookOccurrence.work.test === true)
    return;
  const end = isOutOfAttempts ? ` It was tried ${context.attempt} times and will not be retried.` : "";
  const text = `The hook failed at step ${result.step} (${code}): ${outcome.reason ?? code}.${end}`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: id };
  turn.send(taskRef(workspaceId, hookOccurrence.work.task.id), note);
}

/** Reports a result that operators should see: a refusal, or a failure of an event whose task has not moved on. */
function reportEnd(
  turn: Turn,
  { hookId, teamId, on, attempt: attempts }: HookOccurrenceContext,
  { state, code, status }: Pick<HookOccurrence, "state" | "code"> & Pick<DeliveryResult, "status">,
): void {
  const fired = { hookOccurrenceId: turn.self.id, hookId, teamId, on };
  if (state === "refused" && code === null) turn.report(reportRefusal(fired));
  else if (code !== null && code !== "superseded") turn.report(reportGivenUp(fired, { code, attempts, status }));
}

/** Returns whether this occurrence is a test: a person fires the hook and sees the result in the response. */
function isTest({ mostAttempts, gate }: HookOccurrenceContext): boolean {
  return mostAttempts === 1 && gate === null;
}

/** Returns whether the occurrence failed only because it has no attempts left. */
function isExhausted({ gate, attempt, mostAttempts }: HookOccurrenceContext, code: HookFailureCode): boolean {
  return gate === null && isRetried(code) && attempt > 1 && attempt >= mostAttempts;
}

/** Returns whether the task has left the station of the event, has ended, or was deleted. False for a test. */
function hasTaskMovedOn(turn: Turn, { task: then, test }: WorkEvent): boolean {
  if (test === true) return false;
  const task = tasks.get(turn, turn.self.partition, then.id);
  if (task === undefined || task.state === "done" || task.state === "closed") return true;
  return then.stationKey !== task.station;
}

/** Stores an attempt after which the occurrence continues. */
function recordAttempt(turn: Turn, result: DeliveryResult, context: HookOccurrenceContext): void {
  storeAttempt(turn, turn.self.partition, turn.self.id, toAttempt(result, context));
  turn.report(reportAttempt(result.code, result.tookMs));
}

function toAttempt(
  { refuses: _refuses, isAskedAgain: _isAskedAgain, ...result }: DeliveryResult,
  { requests }: HookOccurrenceContext,
): AttemptRow {
  return Object.assign({ n: requests }, result);
}

function getHookOccurrence(turn: Turn, { teamId }: HookOccurrenceContext): HookOccurrence {
  const hookOccurrence = findHookOccurrence(turn, turn.self.partition, teamId, turn.self.id);
  if (hookOccurrence === undefined) throw new Error("a hook occurrence without its row");
  return hookOccurrence;
}

/** Stores the state of a hook occurrence that has not ended. */
function recordState(
  turn: Turn,
  context: HookOccurrenceContext,
  to: Pick<HookOccurrence, "state" | "retryAt">,
): HookOccurrence {
  const before = getHookOccurrence(turn, context);
  const after = { ...before, ...to };
  hookOccurrences.put(turn, turn.self.partition, before, after);
  return after;
}

function findHook(reading: Reading, workspaceId: string, hookId: string): HookFields | undefined {
  return findResource<HookFields>(reading, workspaceId, "hook", hookId)?.fields;
}
