/**
 * One delivery while it is worked, `delivery/<id>`. What it says is in its rows; the actor ends with it.
 *
 * | state    | moved by                                              | next      | also                              |
 * |----------|-------------------------------------------------------|-----------|-----------------------------------|
 * | accepted | delivery.placed (delivery.work: a place is free)      | working   | its first entries are evaluated   |
 * | accepted | delivery.gone (delivery.work, without a row)          | accepted  | stops                             |
 * | working  | delivery.goes-on (entries evaluated, an entry raised, | working   | the next entry is raised, or the  |
 * |          | its turn to raise, a lookup answered, watched)        |           | next ones are evaluated           |
 * | working  | delivery.waits (a lookup failed, may be tried again)  | waiting   | gives up its place; wake-up after |
 * |          |                                                       |           | 2 s, doubling, 8 attempts         |
 * | working  | delivery.gone                                         | working   | stops                             |
 * | working  | delivery.done (all entries told)                      | done      | stops                             |
 * | working  | delivery.failed (definition gone, or nothing but      | failed    | stops                             |
 * |          | failures)                                             |           |                                   |
 * | working  | delivery.ignored (mine, or nothing holds)             | ignored   | stops                             |
 * | working  | delivery.unrouted (no route, or no line)              | unrouted  | stops                             |
 * | waiting  | woken                                                 | waiting   | asks for a place                  |
 * | waiting  | delivery.placed                                       | working   | the same lookup again             |
 * | waiting  | delivery.gone                                         | waiting   | stops                             |
 *
 * 1. An entry is evaluated whole before anything of it is raised. Raised is one entry after the other: the next one when
 *    the team's marks have answered.
 * 2. Each entry is raised under a key of its own, once: what repeats after a crash is evaluation and GET requests.
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyDelivery, type DeliveryEvent } from "./classify-delivery.js";
import { deliveryRef } from "./delivery.messages.js";
import { askForPlace, begin, end, goOn, resume, stop, wait } from "./delivery.transitions.js";
import { type DeliveryContext, newDelivery } from "./delivery-progress.js";

const machine = setup({
  types: { context: {} as DeliveryContext, events: {} as Delivered<DeliveryEvent> },
}).createMachine({
  id: "delivery",
  context: newDelivery,
  initial: "accepted",
  states: {
    accepted: {
      on: {
        "delivery.placed": { target: "working", actions: assign(({ event }) => begin(event)) },
        "delivery.gone": { actions: ({ event }) => stop(event.turn) },
      },
    },
    working: {
      on: {
        "delivery.goes-on": { target: "working", actions: assign(({ event }) => goOn(event)) },
        "delivery.waits": { target: "waiting", actions: assign(({ event }) => wait(event)) },
        "delivery.done": { target: "done", actions: ({ event }) => end(event) },
        "delivery.failed": { target: "failed", actions: ({ event }) => end(event) },
        "delivery.ignored": { target: "ignored", actions: ({ event }) => end(event) },
        "delivery.unrouted": { target: "unrouted", actions: ({ event }) => end(event) },
        "delivery.gone": { actions: ({ event }) => stop(event.turn) },
      },
    },
    waiting: {
      on: {
        woken: { actions: ({ context, event }) => askForPlace(event.turn, context) },
        "delivery.placed": { target: "working", actions: assign(({ context, event }) => resume(event, context)) },
        "delivery.gone": { actions: ({ event }) => stop(event.turn) },
      },
    },
    done: {},
    failed: {},
    ignored: {},
    unrouted: {},
  },
});

/** See the table above. */
export const deliveryActor = defineActor(deliveryRef, { machine, classify: classifyDelivery, version: 1 });
