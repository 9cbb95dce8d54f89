/**
 * The poll of an integration, `poll/<integration>`: it asks `everyMinutes` after it last ended, for the first time
 * within a minute. Its answer is a delivery (`record-delivery.ts`).
 *
 * 1. It asks one at a time.
 * 2. The cursor, the delivery and the next time are put in one batch, so that nothing is lost or taken twice. What
 *    fails leaves the cursor.
 * 3. It never pauses: what fails is asked again later and later, a day at most (`poll-wait.ts`). From the third failure
 *    on the integration warns of it, and its workspace's owners get one mail.
 * 4. The cursor outlives the block, as long as the integration is there.
 *
 * | state   | moved by                                        | next    | also                                        |
 * |---------|-------------------------------------------------|---------|---------------------------------------------|
 * | off     | check.set (poll.check)                          | resting | due within a minute                         |
 * | off     | check.off, check.gone                           | off     | stops; with the integration the row goes    |
 * | resting | check.set                                       | resting | due as the definition says now; the first   |
 * |         |                                                 |         | time stays as it was                        |
 * | resting | check.off: the block is gone                    | off     | wake-up cancelled; cursor kept; stops       |
 * | resting | check.gone: integration or workspace gone       | off     | the row goes; stops                         |
 * | resting | due.usable (woken), now.usable (poll.now)       | asking  | effect; a GET may run again                 |
 * | resting | due.unlinked, now.unlinked: no connection       | resting | a failure, `not-connected`                  |
 * | resting | due.off                                         | off     | as check.off                                |
 * | asking  | answer.success                                  | resting | cursor, delivery, next time; failures 0     |
 * | asking  | answer.failure: anything else, a crash          | resting | failures + 1; the cursor stays              |
 * | asking  | check.set                                       | asking  |                                             |
 * | asking  | check.off, check.gone                           | off     | the effect is cancelled; as above           |
 * | asking  | now.usable, now.unlinked                        | asking  | answered                                    |
 * | resting,| poll.cursor                                     | same    | the cursor is set; an answer to one that was|
 * | asking  |                                                 |         | asked before leaves it                      |
 * | any     | now.refused, cursor.refused: no poll            | same    | refused                                     |
 * | any     | now.repeated: under a key that was taken        | same    | answered                                    |
 * | any     | answer.other: of a mail, or not asked any more  | same    |                                             |
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyPoll, type PollContext, type PollEvent } from "./classify-poll.js";
import { pollRef } from "./poll.messages.js";
import {
  answerNow,
  ask,
  begin,
  fail,
  recordAnswer,
  refuse,
  restAgain,
  setCursor,
  switchOff,
} from "./poll.transitions.js";

const nothing: PollContext = { askId: null, sinceMs: 0, notBeforeMs: 0, isCursorSet: false };

const anywhere = {
  "now.refused": { actions: "refuse" },
  "cursor.refused": { actions: "refuse" },
  "now.repeated": { actions: "answerNow" },
  "answer.other": { actions: "ignore" },
} as const;

const off = { target: "off", actions: "switchOff" } as const;

const machine = setup({
  types: { context: {} as PollContext, events: {} as Delivered<PollEvent> },
  actions: {
    refuse: ({ event }) => {
      assertEvent(event, ["now.refused", "cursor.refused"]);
      refuse(event);
    },
    answerNow: ({ event }) => {
      assertEvent(event, ["now.usable", "now.unlinked", "now.repeated"]);
      answerNow(event);
    },
    switchOff: assign(({ context, event }) => switchOff(event.turn, context, event.type === "check.gone")),
    ignore: () => undefined,
  },
}).createMachine({
  id: "poll",
  context: nothing,
  initial: "off",
  on: anywhere,
  states: {
    off: {
      on: {
        "check.set": { target: "resting", actions: assign(({ event }) => begin(event.turn, event.set)) },
        "check.off": off,
        "check.gone": off,
        "due.off": off,
      },
    },
    resting: {
      on: {
        "check.set": {
          target: "resting",
          actions: assign(({ context, event }) => restAgain(event.turn, event.set, context)),
        },
        "check.off": off,
        "check.gone": off,
        "due.off": off,
        "due.usable": { target: "asking", actions: assign(({ event }) => ask(event.turn, event.set)) },
        "due.unlinked": { target: "resting", actions: assign(({ event }) => fail(event.turn, event.set, null)) },
        "now.usable": {
          target: "asking",
          actions: [assign(({ event }) => ask(event.turn, event.set)), "answerNow"],
        },
        "now.unlinked": {
          target: "resting",
          actions: [assign(({ event }) => fail(event.turn, event.set, null)), "answerNow"],
        },
        "poll.cursor": { actions: assign(({ context, event }) => setCursor(event, context)) },
      },
    },
    asking: {
      on: {
        "check.set": { target: "asking" },
        "check.off": off,
        "check.gone": off,
        "answer.success": {
          target: "resting",
          actions: assign(({ context, event }) => recordAnswer(event.turn, event, context)),
        },
        "answer.failure": {
          target: "resting",
          actions: assign(({ event }) => fail(event.turn, event.set, event.result)),
        },
        "now.usable": { target: "asking", actions: "answerNow" },
        "now.unlinked": { target: "asking", actions: "answerNow" },
        "poll.cursor": { actions: assign(({ context, event }) => setCursor(event, context)) },
      },
    },
  },
});

/** See the table above. */
export const pollActor = defineActor(pollRef, { machine, classify: classifyPoll, version: 1 });
