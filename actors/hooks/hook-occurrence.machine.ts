/**
 * One hook occurrence, `hook-occurrence/<id>`. Its result is in its rows; the actor itself has ended by then, and the
 * rows keep it from firing again.
 *
 * | state      | moved by                                            | next       | also                              |
 * |------------|-----------------------------------------------------|------------|-----------------------------------|
 * | new        | fire.first (hook.fire, not fired yet)               | attempting | the first step's request starts   |
 * | new        | fire.looped (hook.fire, stopped by the loop guard)  | failed     | reported on the task; stops       |
 * | attempting | delivery.next (effect.ended, steps left)            | attempting | the next step's request starts    |
 * | attempting | delivery.again (effect.ended, a before event's      | attempting | counts; the same step again at    |
 * |            | request cut short by a kill)                        |            | once                              |
 * | attempting | delivery.done (effect.ended, none left)             | delivered  | a before event may go on; stops   |
 * | attempting | delivery.refused (effect.ended, of a before event)  | refused    | the event is refused; stops       |
 * | attempting | delivery.retry (effect.ended, may be tried again)   | waiting    | wake-up after 2 s, doubling up to |
 * |            |                                                     |            | 1 h                               |
 * | attempting | delivery.failed (effect.ended, failed otherwise)    | failed     | block refuses a before event;     |
 * |            |                                                     |            | reported; stops                   |
 * | attempting | keeper.late: the event's time is up                 | failed     | with timeout; block refuses the   |
 * |            |                                                     |            | event                             |
 * | waiting    | woken                                               | attempting | the same step again               |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyHookOccurrence, type HookOccurrenceEvent } from "./classify-hook-occurrence.js";
import { hookOccurrenceRef } from "./hook-occurrence.messages.js";
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
import type { HookOccurrenceContext } from "./step-outcome.js";

const unfired: HookOccurrenceContext = {
  ...{ hookId: "", hook: "", on: "task.opened", teamId: "", attempt: 1, mostAttempts: 1, step: 0, requests: 0 },
  ...{ steps: [], timeoutMs: 0, leftMs: 0, blocks: false, deadlineMs: 0, gate: null },
};

const machine = setup({
  types: { context: {} as HookOccurrenceContext, events: {} as Delivered<HookOccurrenceEvent> },
}).createMachine({
  id: "hook-occurrence",
  context: unfired,
  initial: "new",
  states: {
    new: {
      on: {
        "fire.first": { target: "attempting", actions: assign(({ event }) => fire(event)) },
        "fire.looped": { target: "failed", actions: ({ event }) => stopLoop(event) },
      },
    },
    attempting: {
      on: {
        "delivery.next": {
          target: "attempting",
          actions: assign(({ context, event }) => startNextStep(event, context)),
        },
        "delivery.again": {
          target: "attempting",
          actions: assign(({ context, event }) => startAgain(event, context)),
        },
        "delivery.done": { target: "delivered", actions: ({ context, event }) => finish(event, context) },
        "delivery.refused": { target: "refused", actions: ({ context, event }) => finish(event, context) },
        "delivery.retry": { target: "waiting", actions: ({ context, event }) => waitForRetry(event, context) },
        "delivery.failed": { target: "failed", actions: ({ context, event }) => finish(event, context) },
        "keeper.late": { target: "failed", actions: ({ context, event }) => failOutOfTime(event.turn, context) },
      },
    },
    waiting: {
      on: { woken: { target: "attempting", actions: assign(({ context, event }) => retry(event.turn, context)) } },
    },
    delivered: {},
    failed: {},
    refused: {},
  },
});

/** See the table above. */
export const hookOccurrenceActor = defineActor(hookOccurrenceRef, {
  machine,
  classify: classifyHookOccurrence,
  version: 2,
  // Firings of version 1 have all their time left: they did not keep what their requests took.
  migrate: ({ value, context }) => {
    const before = context as HookOccurrenceContext;
    return { value, context: { ...before, leftMs: before.timeoutMs } };
  },
});
