/**
 * One hook occurrence, `hook-occurrence/<id>`. Its rows store the result. The actor stops when the occurrence ends. The
 * rows remain, so a repeated message does not fire the hook again.
 *
 * | state      | moved by                                            | next       | also                              |
 * |------------|-----------------------------------------------------|------------|-----------------------------------|
 * | new        | fire.first (hook.fire, not fired yet)               | attempting | the first step's request starts   |
 * | new        | fire.looped (hook.fire, stopped by the loop guard)  | failed     | reported on the task; stops       |
 * | attempting | delivery.next (effect.ended, steps left)            | attempting | the next step's request starts    |
 * | attempting | delivery.again (effect.ended, a `before` event's    | attempting | counts an attempt; repeats the    |
 * |            | request cut short by a kill)                        |            | step at once                      |
 * | attempting | delivery.done (effect.ended, none left)             | delivered  | allows a `before` event; stops    |
 * | attempting | delivery.refused (effect.ended, `before` event)     | refused    | the event is refused; stops       |
 * | attempting | delivery.retry (effect.ended, retryable)            | waiting    | wake-up after 2 s, doubling up to |
 * |            |                                                     |            | 1 h                               |
 * | attempting | delivery.failed (effect.ended, failed otherwise)    | failed     | `block` refuses a `before` event; |
 * |            |                                                     |            | reported; stops                   |
 * | attempting | keeper.late: the event's time limit is over         | failed     | with timeout; `block` refuses the |
 * |            |                                                     |            | event                             |
 * | waiting    | woken                                               | attempting | repeats the step                  |
 */
import type { GatekeeperTimedOut } from "../../runtime/cells/actor-type.js";
import { createChart, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { DELIVERY_EFFECT } from "./delivery/delivery.effects.js";
import type { HookOccurrenceState } from "./hook-occurrence.js";
import { type FireHook, hookOccurrenceRef } from "./hook-occurrence.messages.js";
import { findHookOccurrence } from "./hook-occurrence.table.js";
import {
  failOutOfTime,
  finish,
  fire,
  retry,
  startAgain,
  startNextStep,
  stopLoop,
  waitForRetry,
} from "./hook-occurrence.transitions.js";
import { checkLoop } from "./loop-guard.js";
import { type HookOccurrenceContext, toDeliveryResult, toStepOutcome } from "./step-outcome.js";

const unfired: HookOccurrenceContext = {
  hookId: "",
  hook: "",
  on: "task.opened",
  teamId: "",
  attempt: 1,
  mostAttempts: 1,
  step: 0,
  requests: 0,
  steps: [],
  timeoutMs: 0,
  leftMs: 0,
  blocks: false,
  deadlineMs: 0,
  gate: null,
};

const { on, machine } = createChart<HookOccurrenceContext, ReturnType<typeof classifyHookOccurrence>>();

const hookOccurrenceMachine = machine({
  id: "hook-occurrence",
  context: unfired,
  initial: "new",
  states: {
    new: { on: { ...on("fire.first", "attempting", fire), ...on("fire.looped", "failed", stopLoop) } },
    attempting: {
      on: {
        ...on("delivery.next", startNextStep),
        ...on("delivery.again", startAgain),
        ...on("delivery.done", "delivered", finish),
        ...on("delivery.refused", "refused", finish),
        ...on("delivery.retry", "waiting", waitForRetry),
        ...on("delivery.failed", "failed", finish),
        ...on("keeper.late", "failed", failOutOfTime),
      },
    },
    waiting: { on: on("woken", "attempting", retry) },
    delivered: {},
    failed: {},
    refused: {},
  },
});

/** See the table above. */
export const hookOccurrenceActor = defineActor(hookOccurrenceRef, {
  machine: hookOccurrenceMachine,
  classify: classifyHookOccurrence,
  version: 2,
  // Version 1 did not record how long the requests of an occurrence took. So an occurrence of version 1 gets the
  // complete time limit again.
  migrate: ({ value, context }) => {
    const before = context as HookOccurrenceContext;
    return { value, context: { ...before, leftMs: before.timeoutMs } };
  },
});

const deliveryClasses = {
  attempting: "delivery.next",
  waiting: "delivery.retry",
  delivered: "delivery.done",
  refused: "delivery.refused",
  failed: "delivery.failed",
} as const satisfies Record<HookOccurrenceState, string>;

/** Classifies each message to a hook occurrence as an event of its machine. Only reads. */
function classifyHookOccurrence(
  message: FireHook | EffectEnded | GatekeeperTimedOut | Woken,
  { context }: { readonly context: HookOccurrenceContext },
  turn: TurnReading,
) {
  if (message.type === "hook.fire") return classifyFire(message, turn);
  if (!isEffectResult(DELIVERY_EFFECT, message)) return message;
  const result = toDeliveryResult(message);
  const outcome = toStepOutcome(result, context);
  const type = outcome.isAgain === true ? "delivery.again" : deliveryClasses[outcome.next];
  return toEvent(type, { result, outcome });
}

function classifyFire(fired: FireHook, turn: TurnReading) {
  const { why, change } = checkLoop(turn, fired);
  // If the loop guard counts this occurrence and has no firing for the same change in the last 10 minutes, the
  // occurrence is new. Then its row need not be read.
  const mayHaveFired = change === null || change.times.length > 0;
  if (mayHaveFired && findHookOccurrence(turn, turn.self.partition, fired.work.teamId, turn.self.id) !== undefined) {
    // The occurrence was started before and may have ended. No state handles this event, so the message is ignored.
    return toEvent("fire.repeated");
  }
  return why === null ? toEvent("fire.first", { fire: fired, change }) : toEvent("fire.looped", { fire: fired, why });
}
