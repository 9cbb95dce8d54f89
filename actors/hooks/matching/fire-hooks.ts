import type { Gate, GatekeeperRequest, Subscriber } from "../../../runtime/cells/actor-type.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import {
  isAfterEvent,
  isBeforeEvent,
  type WorkEvent,
  type WorkFact,
  type WorkQuestion,
  workEventNames,
} from "../../events/catalogue.js";
import { BEFORE_EVENT_TIMEOUT, toRefusal } from "../delivery/failure-codes.js";
import { type FireHook, hookOccurrenceRef } from "../hook-occurrence.messages.js";
import { hookMatcherRef, type MatchHooks } from "./hook-matcher.messages.js";
import { type HookRow, MATCH_START, matchHooks } from "./match-hooks.js";

/** Common time limit for all hooks on one `before` event (configuration API, Refusing an event), in milliseconds. */
const BEFORE_EVENT_MS = 60_000;
/**
 * Maximum matching cost, in units of the meter, in the turn that receives an event. The hook matcher matches the
 * remaining hooks in later turns.
 */
const MATCH_UNITS_IN_TURN = 15_000;

/** Fires the hooks that match an `after` event. */
export const afterEventSubscriber: Subscriber<WorkFact> = {
  name: "hooks on after events",
  facts: workEventNames.filter(isAfterEvent),
  handle({ work }, turn) {
    const { fires, next } = matchHooks(turn, work, { from: MATCH_START, units: MATCH_UNITS_IN_TURN });
    // `sendFirst` requires addresses without an actor. Only this turn fires these hooks on this event: the matcher
    // starts after them.
    for (const hook of fires) turn.sendFirst(toRef(hook, work), toFire(hook, work));
    if (next !== null) turn.send(hookMatcherRef(work), toMatchHooks(next, work));
  },
};

/** Asks the matching hooks whether a `before` event may happen. */
export const beforeEventGate: Gate<WorkQuestion> = {
  name: "hooks on before events",
  questions: workEventNames.filter(isBeforeEvent),
  boundMs: BEFORE_EVENT_MS,
  gatekeepers({ work }, _partition, reading) {
    const { fires, next } = matchHooks(reading, work, { from: MATCH_START, units: MATCH_UNITS_IN_TURN });
    const asked = fires.map((hook) => toFireRequest(hook, work));
    return next === null ? asked : [...asked, { to: hookMatcherRef(work), message: toMatchHooks(next, work) }];
  },
};

/** Fires a hook on an `after` event. */
export function fireHook(turn: Turn, hook: HookRow, work: WorkEvent): void {
  turn.send(toRef(hook, work), toFire(hook, work));
}

function toRef(hook: HookRow, work: WorkEvent) {
  return hookOccurrenceRef(work.workspaceId, hookOccurrenceId(work, hook));
}

/**
 * Returns the request that asks a hook to decide on a `before` event. If no answer arrives, the hook's `failure`
 * setting decides.
 */
export function toFireRequest(hook: HookRow, work: WorkEvent): GatekeeperRequest {
  return { to: toRef(hook, work), message: toFire(hook, work), whenSilent: timeoutRefusal(hook) };
}

function toFire(hook: HookRow, work: WorkEvent): FireHook {
  return { type: "hook.fire", hookId: hook.id, work, resends: null };
}

/**
 * Returns why a hook refuses a `before` event when the time limit has passed without its answer; null if the hook
 * allows the event.
 */
export function timeoutRefusal({ fields }: HookRow): string | null {
  const step = fields.steps[0]?.name ?? "";
  return fields.failure === "block" ? toRefusal({ hook: fields.key, step, reason: BEFORE_EVENT_TIMEOUT }) : null;
}

function toMatchHooks(from: MatchHooks["from"], work: WorkEvent): MatchHooks {
  return { type: "hook.judge", work, from };
}

/** Returns the id of the hook occurrence for this event and hook. Ids sort by the event's time. */
export function hookOccurrenceId(work: WorkEvent, hook: HookRow): string {
  return `${work.occurrence}-${hook.id.slice(-8)}`;
}
