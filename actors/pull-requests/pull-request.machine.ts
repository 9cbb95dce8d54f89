/**
 * A pull request of a task, `pull-request/<id>`. Messages are classified before the step (`classify-pull-request.ts`).
 * Where an event has another name than its message, the message follows in brackets; "asked" is `pull-request.ask`,
 * "told" is `pull-request.seen` or the result of a look, or of the attempt to open it.
 *
 * | state             | moved by                               | next    | also                                        |
 * |-------------------|----------------------------------------|---------|---------------------------------------------|
 * | none              | ask.refused-none (asked): no connection| none    | the run is told; leaves nothing             |
 * |                   | reaches it, no change                  |         |                                             |
 * | none, failed      | ask.vet (asked)                        | vetting | gate `pull-request.opening`                 |
 * | open              | ask.vet (asked, new changed paths)     | vetting | the same                                    |
 * | open              | ask.push (asked, no new changed paths) | pushing | the runner may push to the same branch      |
 * | any other         | ask.refused (asked)                    | same    | the run is told                             |
 * | vetting           | vet.allowed (gate.answered)            | pushing | branch fixed; the runner may push           |
 * | vetting           | left.none, left.open, left.failed      | none,   | what it was when it was asked; the run is   |
 * |                   | (gate.answered refused, its run ended) | open,   | told why; no token was made                 |
 * |                   |                                        | failed  |                                             |
 * | pushing           | pushed.first (pull-request.pushed)     | opening | the run's end goes on; the code host is     |
 * |                   |                                        |         | asked                                       |
 * | pushing           | pushed.again (the same, it is there)   | open    | the run is told                             |
 * | pushing           | push.retried (pull-request.not-pushed, | vetting | hooks are asked again                       |
 * |                   | the first time)                        |         |                                             |
 * | pushing           | left.failed (the same, the second time,| failed  | the run is told; a line on the task         |
 * |                   | or lost)                               |         |                                             |
 * | pushing           | left.open, left.none (the same of one  | open,   | the run is told                             |
 * |                   | that is there; with nothing to push)   | none    |                                             |
 * | opening           | opening.due (woken `open`)             | opening | the code host is asked                      |
 * | opening           | opening.again (5xx, no answer)         | opening | again later; 8 attempts                     |
 * | opening           | opening.limited                        | opening | again when it takes more; the task is told  |
 * | opening           | opening.failed (4xx, the 8th attempt)  | failed  | the run is told; a line on the task         |
 * | opening           | ask.later (asked, at the run's end)    | opening | it is asked anew when that is over          |
 * | opening           | later.lost (pull-request.not-pushed)   | opening | the run that asked so is over               |
 * | opening, closed,  | became.open (told)                     | open    | `task.pullRequest`; looked at every hour    |
 * | failed            |                                        |         |                                             |
 * | any but none,     | became.closed (told)                   | closed  | fact `pull-request.over`                    |
 * | closed, merged    |                                        |         |                                             |
 * | any but none,     | became.merged (told)                   | merged  | the same; its paths are read                |
 * | merged            |                                        |         |                                             |
 * | pushing           | pull-request.limited                   | pushing | no token for now: until when is kept        |
 * | pushing           | push.waits (pull-request.not-pushed    | pushing | again when the code host takes more; the    |
 * |                   | of such a push, at the run's end)      |         | task is told                                |
 * | pushing           | push.due (woken `push`)                | pushing | the runner may push                         |
 * | closed, merged    | pushed.over (pull-request.pushed or    | same    | the run that pushed meanwhile is told; a    |
 * |                   | not-pushed)                            |         | commit that was not merged: a line          |
 * | any but none      | became.same (told)                     | same    | recorded; asked where it is not clear       |
 * | merged            | files.due (woken `files`), files.later | merged  | its paths are read again later              |
 * | merged            | files.read                             | merged  | fact `pull-request.merged`, once            |
 * | any but none      | reverted (pull-request.reverted)       | same    | `revertedBy`; the code host is asked where  |
 * |                   |                                        |         | the merge is not known yet                  |
 * | open              | look.due (woken `look`)                | open    | the code host is asked                      |
 * | vetting, pushing  | look.due                               | same    | later                                       |
 * | any but none      | look.same, look.gone, look.later       | same    | a line on the task when it is gone          |
 * | failed            | pull-request.retry                     | opening | answered; the code host is asked            |
 * | any but none      | refresh.taken (pull-request.refresh)   | same    | answered; the code host is asked            |
 * | any but none      | request.repeated (pull-request.retry   | same    | answered again                              |
 * |                   | under a key that was taken before)     |         |                                             |
 * | any               | request.refused (either of them)       | same    | refused                                     |
 * | any but none      | pull-request.comment, comment.due,     | same    | comments are kept up to date                |
 * |                   | comment.ended                          |         |                                             |
 * | any               | pull-request.forget                    | (ended) | the row is removed                          |
 */
import { assertEvent, assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { recordRequest } from "../resources/repeated-request.js";
import type { RunOwner } from "../runs/run-owner.js";
import { classifyPullRequest } from "./classify-pull-request.js";
import { keepComment, takeComment, writeComments } from "./comments.js";
import {
  attemptOpening,
  beginOpening,
  endOpening,
  failOpening,
  takePushed,
  waitForLimit,
  waitToOpen,
} from "./opening.js";
import { pullRequestRef } from "./pull-request.messages.js";
import type { PullRequestContext, PullRequestEvent } from "./pull-request-events.js";
import { changePullRequest, getPullRequest } from "./pull-request-row.js";
import { endWaiting, noteLimit, pushAgain, waitToPush } from "./push-limits.js";
import {
  end,
  endPushing,
  look,
  lookAnew,
  lookLater,
  readFiles,
  readFilesLater,
  stayOpen,
  takeFiles,
  takeGone,
  takePushedOver,
  takeReverted,
  takeSeen,
} from "./standing.js";
import { allowAtOnce, allowPush, askAgain, leave, refuseAsk, removePullRequest, vet, vetAgain } from "./vetting.js";

const nobody: PullRequestContext = {
  ...{ run: null, taskAddress: null, was: "none", rejected: 0, attempts: 0, sinceMs: 0, etag: null, look: 0, reads: 0 },
};

/** Transitions of every state. */
const always = {
  "request.refused": { actions: "refuse" },
  "pull-request.forget": { target: "none", actions: "remove" },
} as const;

const becomesMerged = { target: "merged", actions: ["takeSeen", "endOpening", "end", "readFiles"] } as const;
const becomesClosed = { target: "closed", actions: ["takeSeen", "endOpening", "end"] } as const;
const becomesOpen = { target: "open", actions: ["takeSeen", "endOpening", "stayOpen"] } as const;

/** Transitions of one that has a row. */
const known = {
  ...always,
  "became.same": { actions: "takeSeen" },
  "look.same": { actions: "lookLater" },
  "look.later": { actions: "lookLater" },
  "look.gone": { actions: ["takeGone", "lookLater"] },
  "refresh.taken": { actions: ["answer", "lookAnew"] },
  "request.repeated": { actions: "answer" },
  "pull-request.comment": { actions: "keepComment" },
  "comment.due": { actions: "writeComments" },
  "comment.ended": { actions: "takeComment" },
  reverted: { actions: "takeReverted" },
  "ask.refused": { actions: "refuseAsk" },
} as const;

/** Transitions of one that is not merged. */
const unmerged = { ...known, "became.merged": becomesMerged } as const;

/** Transitions of one that a run is about to push to. */
const underWay = {
  ...unmerged,
  "became.closed": becomesClosed,
  "left.none": { target: "none", actions: "leave" },
  "left.open": { target: "open", actions: "leave" },
  "left.failed": { target: "failed", actions: "leave" },
  "look.due": { actions: "lookLater" },
} as const;

const machine = setup({
  types: { context: {} as PullRequestContext, events: {} as Delivered<PullRequestEvent> },
  actions: {
    refuseAsk: ({ event }) => {
      assertEvent(event, ["ask.refused", "ask.refused-none"]);
      refuseAsk(event);
    },
    askLater: assign(({ event }) => {
      assertEvent(event, "ask.later");
      return { later: event.ask };
    }),
    dropLater: assign({ later: null }),
    askAgain: assign(({ context, event }) => askAgain(context, event.turn)),
    vet: assign(({ context, event }) => {
      assertEvent(event, "ask.vet");
      return vet(context, event);
    }),
    vetAgain: assign(({ context, event }) => {
      assertEvent(event, "push.retried");
      return vetAgain(context, event);
    }),
    allowPush: assign(({ context, event }) => allowPush(context, event.turn)),
    allowAtOnce: assign(({ context, event }) => {
      assertEvent(event, "ask.push");
      return allowAtOnce(context, event);
    }),
    leave: assign(({ context, event }) => {
      assertEvent(event, ["left.none", "left.open", "left.failed"]);
      return leave(context, event);
    }),
    takePushed: assign(({ context, event }) => {
      assertEvent(event, ["pushed.first", "pushed.again"]);
      return takePushed(context, event);
    }),
    reopen: ({ context, event }) => void changePullRequest(event.turn, context, { state: "open" }),
    beginOpening: assign(({ context, event }) => {
      assertEvent(event, ["pushed.first", "pull-request.retry"]);
      return beginOpening(context, event);
    }),
    attemptOpening: assign(({ context, event }) => attemptOpening(context, event.turn)),
    waitToOpen: ({ event }) => {
      assertEvent(event, "opening.again");
      waitToOpen(event.turn, event);
    },
    waitForLimit: assign(({ context, event }) => {
      assertEvent(event, "opening.limited");
      return waitForLimit(context, event);
    }),
    failOpening: assign(({ context, event }) => {
      assertEvent(event, "opening.failed");
      return failOpening(context, event);
    }),
    endOpening: ({ event }) => endOpening(event.turn),
    takeSeen: assign(({ context, event }) => {
      assertEvent(event, ["became.open", "became.closed", "became.merged", "became.same"]);
      return takeSeen(context, event);
    }),
    stayOpen: assign(({ context, event }) => stayOpen(context, event.turn)),
    end: assign(({ context, event }) => end(context, event.turn)),
    noteLimit: assign(({ context, event }) => {
      assertEvent(event, "pull-request.limited");
      return noteLimit(context, event);
    }),
    waitToPush: assign(({ context, event }) => {
      assertEvent(event, "push.waits");
      return waitToPush(context, event);
    }),
    pushAgain: assign(({ context, event }) => pushAgain(context, event.turn)),
    endWaiting: ({ event }) => endWaiting(event.turn),
    endPushing: ({ context, event }) => endPushing(context, event.turn),
    takePushedOver: assign(({ context, event }) => {
      assertEvent(event, "pushed.over");
      return takePushedOver(context, event);
    }),
    look: assign(({ context, event }) => look(context, event.turn)),
    lookAnew: assign(({ context, event }) => lookAnew(context, event.turn)),
    lookLater: assign(({ context, event }) => {
      assertEvent(event, ["look.due", "look.same", "look.gone", "look.later"]);
      return lookLater(context, { turn: event.turn, untilMs: "untilMs" in event ? event.untilMs : null });
    }),
    takeGone: ({ context, event }) => takeGone(context, event.turn),
    readFiles: assign(({ context, event }) => readFiles(context, event.turn)),
    readFilesLater: ({ event }) => {
      assertEvent(event, "files.later");
      readFilesLater(event.turn, event);
    },
    takeFiles: ({ context, event }) => {
      assertEvent(event, "files.read");
      takeFiles(context, event);
    },
    takeReverted: assign(({ context, event }) => {
      assertEvent(event, "reverted");
      return takeReverted(context, event);
    }),
    retry: ({ event }) => {
      assertEvent(event, "pull-request.retry");
      recordRequest(event.turn, event, event.turn.self.id);
      event.turn.reply({ pullRequest: getPullRequest(event.turn), replayed: false });
    },
    answer: ({ event }) => {
      assertEvent(event, ["refresh.taken", "request.repeated"]);
      const replayed = event.type === "request.repeated";
      event.turn.reply({ pullRequest: getPullRequest(event.turn), replayed });
    },
    refuse: ({ event }) => {
      assertEvent(event, "request.refused");
      event.turn.reply(event.refusal);
    },
    keepComment: ({ context, event }) => {
      assertEvent(event, "pull-request.comment");
      keepComment(context, event);
    },
    writeComments: ({ event }) => writeComments(event.turn),
    takeComment: ({ context, event }) => {
      assertEvent(event, "comment.ended");
      takeComment(context, event);
    },
    remove: ({ event }) => removePullRequest(event.turn),
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "pull-request",
  context: nobody,
  initial: "none",
  states: {
    none: {
      on: {
        "ask.vet": { target: "vetting", actions: "vet" },
        "ask.refused-none": { actions: ["refuseAsk", "stop"] },
        "request.refused": { actions: ["refuse", "stop"] },
        "pull-request.forget": { actions: "remove" },
      },
    },
    vetting: { on: { ...underWay, "vet.allowed": { target: "pushing", actions: "allowPush" } } },
    pushing: {
      on: {
        ...underWay,
        "pushed.first": { target: "opening", actions: ["takePushed", "beginOpening"] },
        "pushed.again": { target: "open", actions: ["takePushed", "reopen", "stayOpen"] },
        "push.retried": { target: "vetting", actions: "vetAgain" },
        "pull-request.limited": { actions: "noteLimit" },
        "push.waits": { actions: "waitToPush" },
        "push.due": { actions: "pushAgain" },
        "left.none": { target: "none", actions: ["endWaiting", "leave"] },
        "left.open": { target: "open", actions: ["endWaiting", "leave"] },
        "left.failed": { target: "failed", actions: ["endWaiting", "leave"] },
        // Its run is told when the push is over.
        "became.merged": { target: "merged", actions: ["takeSeen", "endWaiting", "endPushing", "readFiles"] },
        "became.closed": { target: "closed", actions: ["takeSeen", "endWaiting", "endPushing"] },
      },
    },
    opening: {
      on: {
        ...unmerged,
        "opening.due": { actions: "attemptOpening" },
        "opening.again": { actions: "waitToOpen" },
        "opening.limited": { actions: "waitForLimit" },
        "opening.failed": { target: "failed", actions: ["failOpening", "askAgain"] },
        "became.open": { target: "open", actions: [...becomesOpen.actions, "askAgain"] },
        "became.closed": { target: "closed", actions: [...becomesClosed.actions, "askAgain"] },
        "became.merged": { target: "merged", actions: [...becomesMerged.actions, "askAgain"] },
        "ask.later": { actions: "askLater" },
        "later.lost": { actions: "dropLater" },
      },
    },
    open: {
      on: {
        ...unmerged,
        "ask.vet": { target: "vetting", actions: "vet" },
        "ask.push": { target: "pushing", actions: "allowAtOnce" },
        "became.closed": becomesClosed,
        "look.due": { actions: "look" },
      },
    },
    closed: { on: { ...unmerged, "became.open": becomesOpen, "pushed.over": { actions: "takePushedOver" } } },
    merged: {
      on: {
        ...known,
        "files.due": { actions: "readFiles" },
        "files.later": { actions: "readFilesLater" },
        "files.read": { actions: "takeFiles" },
        "pushed.over": { actions: "takePushedOver" },
      },
    },
    failed: {
      on: {
        ...unmerged,
        "ask.vet": { target: "vetting", actions: "vet" },
        "became.open": becomesOpen,
        "became.closed": becomesClosed,
        "pull-request.retry": { target: "opening", actions: ["retry", "beginOpening"] },
      },
    },
  },
});

/** See the table above; `owners` has the tasks that pull requests are of. */
export function pullRequestActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(pullRequestRef, { machine, classify: classifyPullRequest(owners), version: 1 });
}
