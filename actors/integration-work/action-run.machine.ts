/**
 * One run of an action, `action-run/<id>`: what a binding does about a task, or a schedule. What came of it is in its
 * row; the actor itself has ended by then, and the row keeps it from beginning again.
 *
 * 1. A binding is done at least once: each of up to 8 attempts carries the same `service-message-id`. A schedule's run
 *    is made once; after a kill it is repeated only where its method is GET.
 * 2. A failure that nothing more is tried after is one line on the task.
 *
 * | state      | moved by                                         | next       | also                               |
 * |------------|--------------------------------------------------|------------|------------------------------------|
 * | new        | run.begun (action.bound, action.due)             | attempting | row; the request starts            |
 * | new        | run.skipped (the binding is not for this task,   | new        | no row, no line; stops             |
 * |            | or the definition no longer has it)              |            |                                    |
 * | new        | run.repeated (begun before)                      | new        | stops                              |
 * | new        | resend.begun (action.resend)                     | attempting | as run.begun, with the same values |
 * | new        | resend.answered (repeated, refused)              | new        | answered; stops                    |
 * | attempting | attempt.done (effect.ended, a success)           | done       | marks are set; stops               |
 * | attempting | attempt.retry (effect.ended, may pass, attempts  | waiting    | wake-up after 2 s, doubling up to  |
 * |            | left)                                            |            | 1 h, or when the host says         |
 * | attempting | attempt.failed (effect.ended, failed otherwise)  | failed     | a line on the task; stops          |
 * | waiting    | woken                                            | attempting | the request again                  |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { actionRunRef } from "./action-run.messages.js";
import { begin, beginAgain, finish, retry, waitForRetry } from "./action-run.transitions.js";
import { type ActionRunContext, type ActionRunEvent, classifyActionRun } from "./classify-action-run.js";

const machine = setup({
  types: { context: {} as ActionRunContext, events: {} as Delivered<ActionRunEvent> },
  actions: { stop: ({ event }) => event.turn.stop() },
}).createMachine({
  id: "action-run",
  context: { integrationId: "", attempt: 1, mostAttempts: 1 },
  initial: "new",
  states: {
    new: {
      on: {
        "run.begun": { target: "attempting", actions: assign(({ event: { turn, ...begun } }) => begin(turn, begun)) },
        "run.skipped": { target: "new", actions: "stop" },
        "run.repeated": { target: "new", actions: "stop" },
        "resend.begun": { target: "attempting", actions: assign(({ event }) => beginAgain(event)) },
        "resend.answered": {
          target: "new",
          actions: [({ event }) => event.turn.reply(event.answer), "stop"],
        },
      },
    },
    attempting: {
      on: {
        "attempt.done": { target: "done", actions: ({ context, event }) => finish(event, context) },
        "attempt.retry": {
          target: "waiting",
          actions: ({ context, event }) => waitForRetry(event.turn, context, event.result),
        },
        "attempt.failed": { target: "failed", actions: ({ context, event }) => finish(event, context) },
      },
    },
    waiting: {
      on: { woken: { target: "attempting", actions: assign(({ context, event }) => retry(event.turn, context)) } },
    },
    done: {},
    failed: {},
  },
});

/** See the table above. */
export const actionRunActor = defineActor(actionRunRef, { machine, classify: classifyActionRun, version: 1 });
