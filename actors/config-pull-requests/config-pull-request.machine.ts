/**
 * The config pull request of a candidate that a person picked, `config-pull-request/<candidate>`. Messages are classified
 * before the step (`classify-config-pull-request.ts`). Where an event has another name than its message, the message
 * follows in brackets.
 *
 * | state           | moved by                         | next    | also                                        |
 * |-----------------|----------------------------------|---------|---------------------------------------------|
 * | none            | candidate.pick                   | opening | the row; a change record, `created`         |
 * | refused         | candidate.pick                   | opening | one attempt more, the line's source of now; |
 * |                 |                                  |         | a change record, `updated`                  |
 * | opening, opened | candidate.pick                   | same    | answered with the one that is there         |
 * | opening         | opening.due (woken `open`)       | refused | the reason                                  |
 * | opening         | pull-request.opened              | opened  | its address                                 |
 * | any             | pick.refused (candidate.pick)    | same    | refused                                     |
 * | any but none    | pick.repeated (candidate.pick    | same    | answered again                              |
 * |                 | under a key taken before)        |         |                                             |
 * | any             | pull-request.forget              | none    | the row is removed                          |
 *
 * 1. A candidate has one at most: its actor is named by the candidate.
 */
import { assertEvent, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { type ConfigPullRequestEvent, classifyConfigPullRequest } from "./classify-config-pull-request.js";
import { configPullRequestRef } from "./config-pull-request.messages.js";
import {
  answerPicked,
  beginOpening,
  noteOpened,
  refuseOpening,
  removePullRequest,
} from "./config-pull-request.transitions.js";

/** Transitions of every state. */
const always = {
  "pick.refused": { actions: "refuse" },
  "pick.repeated": { actions: "answerAgain" },
  "pull-request.forget": { target: "none", actions: "remove" },
} as const;

const machine = setup({
  types: { events: {} as Delivered<ConfigPullRequestEvent> },
  actions: {
    begin: ({ event }) => {
      assertEvent(event, "candidate.pick");
      event.turn.reply(beginOpening(event));
    },
    answer: ({ event }) => {
      assertEvent(event, "candidate.pick");
      event.turn.reply(answerPicked(event.turn));
    },
    refuse: ({ event }) => {
      assertEvent(event, "pick.refused");
      event.turn.reply(event.refusal);
    },
    answerAgain: ({ event }) => {
      assertEvent(event, "pick.repeated");
      event.turn.reply({ pullRequest: event.pullRequest, isBegun: true, replayed: true });
    },
    refuseOpening: ({ event }) => refuseOpening(event.turn),
    noteOpened: ({ event }) => {
      assertEvent(event, "pull-request.opened");
      noteOpened(event.turn, event.url);
    },
    remove: ({ event }) => removePullRequest(event.turn),
    leave: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "config-pull-request",
  initial: "none",
  states: {
    none: {
      on: {
        "candidate.pick": { target: "opening", actions: "begin" },
        "pick.refused": { actions: ["refuse", "leave"] },
        "pull-request.forget": { actions: "remove" },
      },
    },
    opening: {
      on: {
        ...always,
        "candidate.pick": { actions: "answer" },
        "opening.due": { target: "refused", actions: "refuseOpening" },
        "pull-request.opened": { target: "opened", actions: "noteOpened" },
      },
    },
    opened: { on: { ...always, "candidate.pick": { actions: "answer" } } },
    refused: { on: { ...always, "candidate.pick": { target: "opening", actions: "begin" } } },
  },
});

/** See the table above. */
export const configPullRequestActor = defineActor(configPullRequestRef, {
  machine,
  classify: classifyConfigPullRequest,
  version: 1,
});
