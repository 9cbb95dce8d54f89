import type { KeeperAnswer } from "../../runtime/actor-type.js";
import { address } from "../../runtime/address.js";
import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { recordPlace } from "../resources/place.js";
import { resourceById } from "../resources/resource-rows.js";
import type { NoteTask } from "../tasks/task-messages.js";
import { tasks } from "../tasks/task-rows.js";
import { DELIVERY_EFFECT, type Delivery, type DeliveryResult } from "./delivery.effects.js";
import { hookEvents } from "./events.js";
import { type HookFailureCode, isRetried, MAX_ATTEMPTS, waitAfter } from "./failure.js";
import type { HookFields } from "./hook.kind.js";
import type { FireHook, FiringContext } from "./hook-occurrence.machine.js";
import { attempts, type FiringRow, type FiringState, firingEvents, firings, teamFirings } from "./occurrence-rows.js";

/** What the transitions of a firing do; the machine beside it says when. */

export function fire(event: Delivered<FireHook>): FiringContext {
  const { turn, hookId, work, resends } = event;
  const workspaceId = turn.self.partition;
  const hook = hookOf(turn, workspaceId, hookId);
  const row: FiringRow = {
    ...{ id: turn.self.id, occurrence: work.occurrence, hookId, hook: hook?.key ?? "", on: work.on },
    ...{ teamId: work.teamId, taskId: work.task.id, runId: work.run?.id ?? null, state: "attempting" },
    ...{ code: null, refused: null, firedAt: new Date(turn.now).toISOString(), endedAt: null, resends },
  };
  firings.put(turn, workspaceId, row.id, row);
  firingEvents.put(turn, workspaceId, row.id, work);
  teamFirings.put(turn, workspaceId, [work.teamId, row.id], true);
  recordPlace(turn, row.id, { workspaceId, kind: "hook-occurrence" });
  turn.change(`hook-occurrence/${row.id}`, { type: "state", state: row.state });
  turn.change(`team/${work.teamId}`, { type: "hook", id: row.id, hook: row.hook, on: row.on, state: row.state });
  const isBefore = hookEvents[work.on].timing === "before" && event.gate !== undefined;
  const deadlineMs = isBefore ? turn.now + timeoutMs(hook) : 0;
  return attempt(turn, { attempt: 1, step: 0, deadlineMs, gate: event.gate ?? null }, null);
}

/** Starts the request of the current step; `ended` is that of the step before, to be kept. */
export function attempt(turn: Turn, context: FiringContext, ended: EffectEnded | null): FiringContext {
  if (ended !== null) keepAttempt(turn, ended);
  const firing = rowOf(turn);
  if (firing.state !== "attempting") put(turn, { ...firing, state: "attempting" });
  const hook = hookOf(turn, turn.self.partition, firing.hookId);
  const left = context.deadlineMs === 0 ? timeoutMs(hook) : Math.min(timeoutMs(hook), context.deadlineMs - turn.now);
  const input: Delivery = {
    workspaceId: turn.self.partition,
    firingId: firing.id,
    step: context.step,
    timeoutMs: Math.max(1, left),
  };
  turn.start({ name: DELIVERY_EFFECT, id: `${firing.id}/${context.attempt}/${context.step}`, input });
  return context;
}

interface Outcome {
  readonly next: FiringState;
  readonly code: HookFailureCode | null;
  /** Why the event is refused, or null. */
  readonly refused: string | null;
}

/** What the end of a step's request means. Reads only. */
export function outcomeOf(event: Delivered<EffectEnded>, context: FiringContext): Outcome {
  const { turn } = event;
  const result = resultOf(event);
  const firing = rowOf(turn);
  const hook = hookOf(turn, turn.self.partition, firing.hookId);
  const before = context.gate !== null;
  if (result.code === null) {
    const reason = before ? refusalIn(result.body) : null;
    if (reason !== null) {
      return { next: "refused", code: null, refused: `Hook ${firing.hook} refused. Reason: ${reason}` };
    }
    const isLast = context.step + 1 >= (hook?.steps.length ?? 0);
    if (isLast) return { next: "delivered", code: null, refused: null };
    // The hook's time as a whole is over before the next step begins.
    if (context.deadlineMs === 0 || turn.now < context.deadlineMs) {
      return { next: "attempting", code: null, refused: null };
    }
    return failed(
      firing,
      hook,
      { code: "timeout", step: hook?.steps[context.step + 1]?.name ?? "", reason: "the hook's time ran out" },
      before,
    );
  }
  if (!before && isRetried(result.code) && context.attempt < MAX_ATTEMPTS) {
    return { next: "waiting", code: result.code, refused: null };
  }
  return failed(firing, hook, { code: result.code, step: result.step, reason: result.reason ?? result.code }, before);
}

function failed(
  firing: FiringRow,
  hook: HookFields | undefined,
  failure: { readonly code: HookFailureCode; readonly step: string; readonly reason: string },
  before: boolean,
): Outcome {
  const blocks = before && hook?.failure === "block";
  return {
    next: "failed",
    code: failure.code,
    refused: blocks
      ? `Hook ${firing.hook} failed at step ${failure.step} and blocks on failure. Reason: ${failure.reason}`
      : null,
  };
}

export function waitForRetry(event: Delivered<EffectEnded>, context: FiringContext): void {
  const { turn } = event;
  keepAttempt(turn, event);
  put(turn, { ...rowOf(turn), state: "waiting" });
  turn.wake("retry", turn.now + waitAfter(context.attempt));
}

/** Keeps how it ended, answers a waiting event, and tells the task of a failure that still concerns it. */
export function finish(event: Delivered<EffectEnded>, context: FiringContext): void {
  const { turn } = event;
  const outcome = outcomeOf(event, context);
  keepAttempt(turn, event);
  const firing = rowOf(turn);
  const superseded = outcome.code !== null && context.gate === null && hasMovedOn(turn, firing);
  const code = superseded ? "superseded" : outcome.code;
  const endedAt = new Date(turn.now).toISOString();
  put(turn, { ...firing, state: outcome.next, code, refused: outcome.refused, endedAt });
  if (context.gate !== null) {
    const answer: KeeperAnswer = { type: "keeper.answered", key: context.gate.key, refused: outcome.refused };
    turn.send(context.gate.replyTo, answer);
  }
  if (code === null || superseded || outcome.refused !== null) return;
  const { step, reason } = resultOf(event);
  const text = `The hook failed at step ${step} (${code}): ${reason ?? code}.`;
  const note: NoteTask = { type: "note", from: `hook ${firing.hook}`, text, key: firing.id };
  turn.send(address(turn.self.partition, "task", firing.taskId), note);
}

/** Whether the task has left the station the hook fired at, is finished or gone. */
function hasMovedOn(turn: Turn, firing: FiringRow): boolean {
  const task = tasks.get(turn, turn.self.partition, firing.taskId);
  const work = firingEvents.get(turn, turn.self.partition, firing.id);
  if (task === undefined || task.state === "done" || task.state === "closed") return true;
  return work?.task.stationKey !== task.station;
}

function keepAttempt(turn: Turn, event: EffectEnded): void {
  const last = attempts.list(turn, turn.self.partition, [turn.self.id], { reverse: true, limit: 1 })[0];
  const n = (last?.n ?? 0) + 1;
  attempts.put(turn, turn.self.partition, [turn.self.id, n], { n, ...resultOf(event) });
}

/** An effect that could not report is a step that `errored`. */
function resultOf(event: EffectEnded): DeliveryResult {
  if (event.result.ok) return event.result.output as DeliveryResult;
  const none = { step: "", at: "", tookMs: 0, requestHeaders: {}, status: null, body: "" };
  return { ...none, code: "errored", reason: event.result.error };
}

/** The reason in an answer that refuses: a JSON object whose `refuse` is a text that is not empty. */
function refusalIn(body: string): string | null {
  try {
    const answer: unknown = JSON.parse(body);
    const refuse = typeof answer === "object" && answer !== null && "refuse" in answer ? answer.refuse : null;
    return typeof refuse === "string" && refuse !== "" ? refuse : null;
  } catch {
    return null;
  }
}

function rowOf(turn: Turn): FiringRow {
  const row = firings.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a firing without its row");
  return row;
}

function put(turn: Turn, row: FiringRow): void {
  firings.put(turn, turn.self.partition, row.id, row);
  turn.change(`hook-occurrence/${row.id}`, { type: "state", state: row.state });
  turn.change(`team/${row.teamId}`, { type: "hook", id: row.id, hook: row.hook, on: row.on, state: row.state });
}

function hookOf(reading: Reading, workspaceId: string, hookId: string): HookFields | undefined {
  return resourceById<HookFields>(reading, workspaceId, "hook", hookId)?.fields;
}

function timeoutMs(hook: HookFields | undefined): number {
  return (hook?.timeoutSeconds ?? 10) * 1_000;
}
