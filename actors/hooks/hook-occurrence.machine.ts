/**
 * One firing of a hook, `hook-occurrence/<id>`. How it ended stands in its rows; the actor itself is gone by then,
 * and the rows keep it from firing again.
 *
 * | state      | moved by                                       | next       | also                                     |
 * |------------|------------------------------------------------|------------|------------------------------------------|
 * | new        | hook.fire, not fired yet                       | attempting | the first step's request starts          |
 * | new        | hook.fire, stopped by the loop guard           | failed     | reported on the task; stops              |
 * | attempting | effect.ended, step done, steps left            | attempting | the next step's request starts           |
 * | attempting | effect.ended, step done, none left             | delivered  | a before event may go on; stops          |
 * | attempting | effect.ended, the answer refuses (before)      | refused    | the event is refused; stops              |
 * | attempting | effect.ended, failed, may be tried again       | waiting    | wake-up after 2 s, doubling up to 1 h    |
 * | attempting | effect.ended, failed otherwise                 | failed     | block refuses a before event; reported;  |
 * |            |                                                |            | stops                                    |
 * | attempting | keeper.late: the event's time is over          | failed     | with timeout; block refuses the event    |
 * | waiting    | woken                                          | attempting | the same step again                      |
 */
import { assign, setup } from "xstate";
import type { ActorType, GatekeeperTimedOut, ReplyTo } from "../../runtime/actor-type.js";
import type { Delivered, EffectEnded, Message, Woken } from "../../runtime/turn.js";
import type { WorkEvent } from "../events/catalogue.js";
import {
  failOutOfTime,
  finish,
  fire,
  hasFired,
  retry,
  startNextStep,
  stopLoop,
  toOutcome,
  waitForRetry,
} from "./hook-occurrence.transitions.js";
import { whyLooped } from "./loop-guard.js";

export interface FireHook extends Message {
  readonly type: "hook.fire";
  readonly hookId: string;
  readonly work: WorkEvent;
  readonly resends: string | null;
  /** Set by the runtime when a before event waits for the answer. */
  readonly gate?: ReplyTo;
}

/** All that the end of a request is judged by, so that judging it reads no rows. */
export interface HookOccurrenceContext {
  readonly hookId: string;
  readonly hook: string;
  readonly on: WorkEvent["on"];
  readonly teamId: string;
  readonly attempt: number;
  /** A test is tried once. */
  readonly mostAttempts: number;
  readonly step: number;
  /** Requests made so far, over all attempts and steps. */
  readonly requests: number;
  /** Names of the hook's steps as they were when it fired. */
  readonly steps: readonly string[];
  readonly timeoutMs: number;
  readonly blocks: boolean;
  /** When a hook on a before event must be done; 0 on an after event. */
  readonly deadlineMs: number;
  readonly gate: ReplyTo | null;
}

type HookOccurrenceEvent = Delivered<FireHook | EffectEnded | GatekeeperTimedOut | Woken>;

const machine = setup({
  types: { context: {} as HookOccurrenceContext, events: {} as HookOccurrenceEvent },
  guards: {
    isFirst: ({ event }) => event.type === "hook.fire" && !hasFired(event),
    isLoop: ({ event }) => event.type === "hook.fire" && whyLooped(event) !== null && !hasFired(event),
    goesOn: ({ context, event }) => event.type === "effect.ended" && toOutcome(event, context).next === "attempting",
    delivers: ({ context, event }) => event.type === "effect.ended" && toOutcome(event, context).next === "delivered",
    refuses: ({ context, event }) => event.type === "effect.ended" && toOutcome(event, context).next === "refused",
    retries: ({ context, event }) => event.type === "effect.ended" && toOutcome(event, context).next === "waiting",
  },
  actions: {
    fire: assign(({ context, event }) => (event.type === "hook.fire" ? fire(event) : context)),
    stopLoop: ({ event }) => {
      if (event.type === "hook.fire") stopLoop(event);
    },
    next: assign(({ context, event }) => (event.type === "effect.ended" ? startNextStep(event, context) : context)),
    again: assign(({ context, event }) => retry(event.turn, context)),
    wait: assign(({ context, event }) => (event.type === "effect.ended" ? waitForRetry(event, context) : context)),
    finish: ({ context, event }) => {
      if (event.type === "effect.ended") finish(event, context);
    },
    runOut: ({ context, event }) => {
      if (event.type === "keeper.late") failOutOfTime(event, context);
    },
  },
}).createMachine({
  id: "hook-occurrence",
  context: {
    ...{
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
    },
    ...{ blocks: false, deadlineMs: 0, gate: null },
  },
  initial: "new",
  states: {
    new: {
      on: {
        "hook.fire": [
          { guard: "isLoop", target: "failed", actions: "stopLoop" },
          { guard: "isFirst", target: "attempting", actions: "fire" },
        ],
      },
    },
    attempting: {
      on: {
        "effect.ended": [
          { guard: "goesOn", target: "attempting", actions: "next" },
          { guard: "delivers", target: "delivered", actions: "finish" },
          { guard: "refuses", target: "refused", actions: "finish" },
          { guard: "retries", target: "waiting", actions: "wait" },
          { target: "failed", actions: "finish" },
        ],
        "keeper.late": { target: "failed", actions: "runOut" },
      },
    },
    waiting: { on: { woken: { target: "attempting", actions: "again" } } },
    delivered: {},
    failed: {},
    refused: {},
  },
});

/** See the table above. */
export const hookOccurrenceActor: ActorType = { kind: "hook-occurrence", machine, version: 1 };
