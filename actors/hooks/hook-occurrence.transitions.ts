import type { GatekeeperAnswer, GatekeeperTimedOut } from "../../runtime/actor-type.js";
import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import type { WorkEvent } from "../events/catalogue.js";
import { workEvents } from "../events/catalogue.js";
import { findResource } from "../resources/resource.table.js";
import { type NoteTask, taskRef } from "../tasks/task.messages.js";
import { tasks } from "../tasks/task.table.js";
import { timeText } from "../time-text.js";
import { DELIVERY_EFFECT, type DeliveryInput, type DeliveryResult } from "./delivery/delivery.effects.js";
import {
  BEFORE_EVENT_TIMEOUT,
  type HookFailureCode,
  isRetried,
  MAX_ATTEMPTS,
  retryWaitMs,
  toRefusal,
} from "./delivery/retry-policy.js";
import type { HookFields } from "./hook.kind.js";
import type { FireHook, HookOccurrenceContext } from "./hook-occurrence.machine.js";
import { EXHAUSTED } from "./hook-occurrence.queries.js";
import {
  type AttemptRow,
  findHookOccurrence,
  type HookOccurrence,
  type HookOccurrenceState,
  hookOccurrences,
  storeAttempt,
  storeEnded,
} from "./hook-occurrence.table.js";
import { mayHaveFired, recordFired, whyLooped } from "./loop-guard.js";
import { recordHookOccurrence, recordLoop } from "./record-hook-occurrence.js";

/** What the transitions of a firing do; the machine beside it says when. */

/** Whether the firing has begun before, and may be over. */
export function hasFired(event: Delivered<FireHook>): boolean {
  const { turn, work } = event;
  return mayHaveFired(event) && findHookOccurrence(turn, turn.self.partition, work.teamId, turn.self.id) !== undefined;
}

export function fire(event: Delivered<FireHook>): HookOccurrenceContext {
  const { turn, hookId, work } = event;
  const hook = findHook(turn, turn.self.partition, hookId);
  recordHookOccurrence(event, { hook: hook?.key ?? "", state: "attempting", code: null, reason: null, endedAt: null });
  recordFired(event);
  const isBefore = workEvents[work.on].timing === "before" && event.gate !== undefined;
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
    blocks: hook?.failure === "block",
    deadlineMs: isBefore ? turn.now + timeoutMs : 0,
    gate: event.gate ?? null,
  };
  startRequest(turn, context, work);
  return context;
}

/** Keeps that the loop guard stopped it. */
export function stopLoop(event: Delivered<FireHook>): void {
  const hook = findHook(event.turn, event.turn.self.partition, event.hookId)?.key ?? "";
  recordLoop(event, hook, whyLooped(event) ?? "");
}

/** Starts the request of the current step, the last that is counted. */
function startRequest(turn: Turn, context: HookOccurrenceContext, memo?: WorkEvent): void {
  const left = context.deadlineMs === 0 ? context.timeoutMs : context.deadlineMs - turn.now;
  const { teamId, hookId, step, deadlineMs } = context;
  const timeoutMs = Math.max(1, Math.min(left, context.timeoutMs));
  const all = { teamId, hookId, step, timeoutMs };
  const input: DeliveryInput = deadlineMs === 0 ? all : { ...all, deadlineMs };
  turn.start(DELIVERY_EFFECT.request(String(context.requests), input, memo));
}

/** The next step, after one that was done. */
export function startNextStep(event: Delivered<EffectEnded>, context: HookOccurrenceContext): HookOccurrenceContext {
  storeAttempt(event.turn, event.turn.self.partition, event.turn.self.id, toAttempt(event, context));
  const next = { ...context, step: context.step + 1, requests: context.requests + 1 };
  startRequest(event.turn, next);
  return next;
}

/** The same step again, after its wait. */
export function retry(turn: Turn, context: HookOccurrenceContext): HookOccurrenceContext {
  recordState(turn, context, { state: "attempting", retryAt: null });
  const next = { ...context, attempt: context.attempt + 1, requests: context.requests + 1 };
  startRequest(turn, next);
  return next;
}

interface Outcome {
  readonly next: HookOccurrenceState;
  readonly code: HookFailureCode | null;
  /** Why the event is refused, or null. */
  readonly refused: string | null;
}

/** What the end of a step's request means. */
export function toOutcome(event: Delivered<EffectEnded>, context: HookOccurrenceContext): Outcome {
  const { turn } = event;
  const result = toDeliveryResult(event);
  const before = context.gate !== null;
  if (result.code !== null) {
    return !before && isRetried(result.code) && context.attempt < context.mostAttempts
      ? { next: "waiting", code: result.code, refused: null }
      : toFailedOutcome(context, { code: result.code, step: result.step, reason: result.reason ?? result.code });
  }
  const reason = before ? findRefusal(result.body) : null;
  if (reason !== null) {
    return { next: "refused", code: null, refused: `Hook ${context.hook} refused. Reason: ${reason}` };
  }
  const next = context.steps[context.step + 1];
  if (next === undefined) return { next: "delivered", code: null, refused: null };
  // The hook's time as a whole is over before the next step begins.
  return context.deadlineMs > 0 && turn.now >= context.deadlineMs
    ? toFailedOutcome(context, { code: "timeout", step: next, reason: "the hook's time ran out" })
    : { next: "attempting", code: null, refused: null };
}

function toFailedOutcome(
  { gate, blocks, hook }: HookOccurrenceContext,
  failure: { readonly code: HookFailureCode; readonly step: string; readonly reason: string },
): Outcome {
  const { code, step, reason } = failure;
  const refused = gate !== null && blocks ? toRefusal({ hook, step, reason }) : null;
  return { next: "failed", code, refused };
}

export function waitForRetry(event: Delivered<EffectEnded>, context: HookOccurrenceContext): HookOccurrenceContext {
  const { turn } = event;
  storeAttempt(turn, turn.self.partition, turn.self.id, toAttempt(event, context));
  // What the receiver asks for counts where it is later.
  const atMs = turn.now + Math.max(retryWaitMs(context.attempt), toDeliveryResult(event).retryAfterMs ?? 0);
  recordState(turn, context, { state: "waiting", retryAt: timeText(atMs) });
  turn.wake("retry", atMs);
  return context;
}

/** Fails the step under way: the hooks on the event have used up their time together. */
export function failOutOfTime({ turn }: Delivered<GatekeeperTimedOut>, context: HookOccurrenceContext): void {
  const id = String(context.requests);
  turn.cancelEffect(id);
  const step = context.steps[context.step] ?? "";
  const none = { at: timeText(turn.now), tookMs: 0, requestHeaders: {}, status: null, body: "" };
  const output: DeliveryResult = { ...none, step, code: "timeout", reason: BEFORE_EVENT_TIMEOUT };
  finish({ type: "effect.ended", effect: DELIVERY_EFFECT.name, id, result: { ok: true, output }, turn }, context);
}

/** Keeps how it ended and ends the actor, answers a waiting event, and tells the task of a failure that still concerns it. */
export function finish(event: Delivered<EffectEnded>, context: HookOccurrenceContext): void {
  const { turn } = event;
  const { hook, on, teamId } = context;
  const outcome = toOutcome(event, context);
  const firing = outcome.code === null ? null : getHookOccurrence(turn, context);
  const superseded = firing !== null && context.gate === null && hasTaskMovedOn(turn, firing.work);
  const code = superseded ? "superseded" : outcome.code;
  const { next: state, refused } = outcome;
  const { partition: workspaceId, id } = turn.self;
  const endedAt = timeText(turn.now);
  const ended = { state, code, refused, endedAt, attempt: toAttempt(event, context) };
  storeEnded(turn, workspaceId, { id, teamId, hook, on, state: "attempting" }, ended);
  if (context.gate !== null) {
    const answer: GatekeeperAnswer = { type: "keeper.answered", key: context.gate.key, refused };
    turn.send(context.gate.replyTo, answer);
  }
  turn.stop();
  const isGivenUp = outcome.code !== null && isExhausted(context, outcome.code);
  if (isGivenUp) turn.count(EXHAUSTED);
  if (firing === null || code === null || superseded || refused !== null || firing.work.test === true) return;
  const { step, reason } = toDeliveryResult(event);
  const end = isGivenUp ? ` It was tried ${context.attempt} times and is not tried again.` : "";
  const text = `The hook failed at step ${step} (${code}): ${reason ?? code}.${end}`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: id };
  turn.send(taskRef(workspaceId, firing.work.task.id), note);
}

/** Whether it would have been tried again, had it any attempts left. */
function isExhausted({ gate, attempt, mostAttempts }: HookOccurrenceContext, code: HookFailureCode): boolean {
  return gate === null && isRetried(code) && attempt > 1 && attempt >= mostAttempts;
}

/** Whether the task has left the station the hook fired at, is finished or gone. */
function hasTaskMovedOn(turn: Turn, { task: then, test }: WorkEvent): boolean {
  if (test === true) return false;
  const task = tasks.get(turn, turn.self.partition, then.id);
  if (task === undefined || task.state === "done" || task.state === "closed") return true;
  return then.stationKey !== task.station;
}

function toAttempt(event: EffectEnded, { requests }: HookOccurrenceContext): AttemptRow {
  return Object.assign({ n: requests }, toDeliveryResult(event));
}

/** An effect that could not report is a step that `errored`. */
function toDeliveryResult(event: EffectEnded): DeliveryResult {
  if (event.result.ok) return event.result.output as DeliveryResult;
  const none = { step: "", at: "", tookMs: 0, requestHeaders: {}, status: null, body: "" };
  return { ...none, code: "errored", reason: event.result.error };
}

/** The reason in an answer that refuses: a JSON object whose `refuse` is a text that is not empty. */
function findRefusal(body: string): string | null {
  try {
    const answer: unknown = JSON.parse(body);
    const refuse = typeof answer === "object" && answer !== null && "refuse" in answer ? answer.refuse : null;
    return typeof refuse === "string" && refuse !== "" ? refuse : null;
  } catch {
    return null;
  }
}

function getHookOccurrence(turn: Turn, { teamId }: HookOccurrenceContext): HookOccurrence {
  const firing = findHookOccurrence(turn, turn.self.partition, teamId, turn.self.id);
  if (firing === undefined) throw new Error("a firing without its row");
  return firing;
}

/** Writes where a firing stands that has not ended. */
function recordState(turn: Turn, context: HookOccurrenceContext, to: Pick<HookOccurrence, "state" | "retryAt">): void {
  const before = getHookOccurrence(turn, context);
  hookOccurrences.put(turn, turn.self.partition, before, { ...before, ...to });
}

function findHook(reading: Reading, workspaceId: string, hookId: string): HookFields | undefined {
  return findResource<HookFields>(reading, workspaceId, "hook", hookId)?.fields;
}
