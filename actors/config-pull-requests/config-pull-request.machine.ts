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
 * | opening         | commit.due (woken `open`)        | opening | the code host is asked for the commit       |
 * | opening         | commit.made (effect.ended)       | opening | stored, before any branch has it; the code  |
 * |                 |                                  |         | host is asked for branch and pull request   |
 * | opening         | opening.due (woken `open`)       | opening | the code host is asked for these again      |
 * | opening         | opening.again (effect.ended: 5xx,| opening | the step again later; 8 tries               |
 * |                 | no answer)                       |         |                                             |
 * | opening         | opening.limited (effect.ended)   | opening | the same, when the code host takes more;    |
 * |                 |                                  |         | `waitsUntil`                                |
 * | opening         | opening.refused (woken: no       | refused | the reason                                  |
 * |                 | source, no connection;           |         |                                             |
 * |                 | effect.ended: it does not fit,   |         |                                             |
 * |                 | 4xx, the 8th try)                |         |                                             |
 * | opening         | opening.done (effect.ended)      | opened  | its address                                 |
 * | any             | pick.refused (candidate.pick)    | same    | refused                                     |
 * | any but none    | pick.repeated (candidate.pick    | same    | answered again                              |
 * |                 | under a key taken before)        |         |                                             |
 * | any             | pull-request.forget              | none    | the row is removed                          |
 *
 * 1. A candidate has one at most: its actor is named by the candidate.
 * 2. A branch is made, and moved, only to a commit that is stored here: so after a crash and after a lost answer a branch
 *    that holds it is known to be its own, and one that holds anything else is never touched.
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import {
  type ConfigPullRequestEvent,
  classifyConfigPullRequest,
  type OpeningContext,
} from "./classify-config-pull-request.js";
import { configPullRequestRef } from "./config-pull-request.messages.js";
import {
  answerPicked,
  askForCommit,
  askToOpen,
  beginOpening,
  notBegun,
  noteOpened,
  noteRefused,
  removePullRequest,
  takeCommit,
  tryLater,
  waitForLimit,
} from "./config-pull-request.transitions.js";

/** Transitions of every state. */
const always = {
  "pick.refused": { actions: "refuse" },
  "pick.repeated": { actions: "answerAgain" },
  "pull-request.forget": { target: "none", actions: "remove" },
} as const;

const machine = setup({
  types: { context: {} as OpeningContext, events: {} as Delivered<ConfigPullRequestEvent> },
  actions: {
    begin: assign(({ context, event }) => {
      assertEvent(event, "candidate.pick");
      event.turn.reply(beginOpening(event));
      return { ...notBegun, commits: context.commits, pickedMs: event.turn.now };
    }),
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
    askForCommit: assign(({ context, event }) => {
      assertEvent(event, "commit.due");
      return askForCommit(context, event);
    }),
    takeCommit: assign(({ context, event }) => {
      assertEvent(event, "commit.made");
      return takeCommit(context, event);
    }),
    askToOpen: assign(({ context, event }) => {
      assertEvent(event, "opening.due");
      return askToOpen(context, event);
    }),
    tryLater: ({ event }) => {
      assertEvent(event, "opening.again");
      tryLater(event.turn, event.untilMs);
    },
    waitForLimit: assign(({ context, event }) => {
      assertEvent(event, "opening.limited");
      return waitForLimit(context, event.turn, event.untilMs);
    }),
    noteRefused: ({ event }) => {
      assertEvent(event, "opening.refused");
      noteRefused(event.turn, event.reason);
    },
    noteOpened: ({ event }) => {
      assertEvent(event, "opening.done");
      noteOpened(event.turn, event.answer);
    },
    remove: ({ event }) => removePullRequest(event.turn),
    leave: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "config-pull-request",
  context: notBegun,
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
        "commit.due": { actions: "askForCommit" },
        "commit.made": { actions: "takeCommit" },
        "opening.due": { actions: "askToOpen" },
        "opening.again": { actions: "tryLater" },
        "opening.limited": { actions: "waitForLimit" },
        "opening.refused": { target: "refused", actions: "noteRefused" },
        "opening.done": { target: "opened", actions: "noteOpened" },
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
  version: 2,
  // Before it, nothing was asked of the code host.
  migrate: ({ value }) => ({ value, context: notBegun }),
});
