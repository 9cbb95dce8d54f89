/**
 * A pull request of a task, `pull-request/<id>`. `classify-pull-request.ts` classifies each message before the step. If
 * an event's name differs from the message's name, the message follows in brackets. "asked" means `pull-request.ask`.
 * "news" means `pull-request.seen`, or the result of a read or of an attempt to open.
 *
 * | state            | moved by                                | next    | also                                       |
 * |------------------|-----------------------------------------|---------|--------------------------------------------|
 * | none             | ask.refused-none (asked): no connection | none    | the run is notified; the actor ends        |
 * |                  | reaches it, no change                   |         |                                            |
 * | none, failed     | ask.vet (asked)                         | vetting | gate `pull-request.opening`                |
 * | open             | ask.vet (asked, new changed paths)      | vetting | gate `pull-request.opening`                |
 * | open             | ask.push (asked, no new changed paths)  | pushing | the runner may push to the same branch     |
 * | any other        | ask.refused (asked)                     | same    | the run gets the reason                    |
 * | vetting          | vet.allowed (gate.answered)             | pushing | branch fixed; the runner may push          |
 * | vetting          | left.none, left.open, left.failed       | none,   | the state before the request; the run gets |
 * |                  | (gate.answered refused, its run ended)  | open,   | the reason; no token was issued            |
 * |                  |                                         | failed  |                                            |
 * | pushing          | pushed.first (pull-request.pushed)      | opening | the run's end continues; the code host is  |
 * |                  |                                         |         | asked                                      |
 * | pushing          | pushed.again (pushed, already open)     | open    | the run is notified                        |
 * | pushing          | push.retried (pull-request.not-pushed,  | vetting | hooks are asked again                      |
 * |                  | the first time)                         |         |                                            |
 * | pushing          | left.failed (not-pushed, second time,   | failed  | the run is notified; a note on the task    |
 * |                  | or lost)                                |         |                                            |
 * | pushing          | left.open, left.none (not-pushed, if it | open,   | the run is notified                        |
 * |                  | is open; with nothing to push)          | none    |                                            |
 * | opening          | opening.due (woken `open`)              | opening | the code host is asked                     |
 * | opening          | opening.again (for example 5xx)         | opening | again later; at most 8 attempts            |
 * | opening          | opening.limited                         | opening | again after the rate limit; a task note    |
 * | opening          | opening.failed (otherwise)              | failed  | the run is notified; a note on the task    |
 * | opening          | ask.later (asked, at the run's end)     | opening | asked again after the opening              |
 * | opening          | later.lost (pull-request.not-pushed)    | opening | the run that asked has ended               |
 * | opening, closed, | became.open (news)                      | open    | `task.pullRequest`; read every hour        |
 * | failed           |                                         |         |                                            |
 * | any but none,    | became.closed (news)                    | closed  | fact `pull-request.over`                   |
 * | closed, merged   |                                         |         |                                            |
 * | any but none,    | became.merged (news)                    | merged  | fact `pull-request.over`; reads its paths  |
 * | merged           |                                         |         |                                            |
 * | pushing          | pull-request.limited                    | pushing | no token for now: the time is recorded     |
 * | pushing          | push.waits (pull-request.not-pushed     | pushing | again after the code host's rate limit; a  |
 * |                  | of such a push, at the run's end)       |         | task note                                  |
 * | pushing          | push.due (woken `push`)                 | pushing | the runner may push                        |
 * | closed, merged   | pushed.over (pull-request.pushed or     | same    | the run that pushed is notified; a note    |
 * |                  | not-pushed)                             |         | for a commit that was not merged           |
 * | any but none     | became.same (news)                      | same    | recorded; read if the news is unclear      |
 * | merged           | files.due (woken `files`), files.later  | merged  | its paths are read again later             |
 * | merged           | files.read                              | merged  | fact `pull-request.merged`, once           |
 * | any but none     | reverted (pull-request.reverted)        | same    | `revertedBy`; the code host is asked if    |
 * |                  |                                         |         | the merge is still unknown                 |
 * | open             | look.due (woken `look`)                 | open    | the code host is asked                     |
 * | vetting, pushing | look.due                                | same    | later                                      |
 * | any but none     | look.same, look.gone, look.later        | same    | a note on the task when it is gone         |
 * | failed           | pull-request.retry                      | opening | answered; the code host is asked           |
 * | any but none     | refresh.taken (pull-request.refresh)    | same    | answered; the code host is asked           |
 * | any but none     | request.repeated (pull-request.retry    | same    | answered again                             |
 * |                  | under a key that was used before)       |         |                                            |
 * | any              | request.refused (retry or refresh)      | same    | refused                                    |
 * | any but none     | pull-request.comment, comment.due,      | same    | comments are kept up to date               |
 * |                  | comment.ended                           |         |                                            |
 * | any              | pull-request.forget                     | (ended) | the row is removed                         |
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { recordRequest } from "../resources/repeated-request.js";
import type { RunOwner } from "../runs/run-owner.js";
import { classifyPullRequest, type PullRequestEvent, type PullRequestEventOf } from "./classify-pull-request.js";
import { storeComment, takeComment, writeComments } from "./comments.js";
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
} from "./hosted-status.js";
import {
  attemptOpening,
  beginOpening,
  endOpening,
  failOpening,
  takePushed,
  waitForLimit,
  waitToOpen,
} from "./opening.js";
import type { PullRequestContext } from "./pull-request.js";
import { pullRequestRef } from "./pull-request.messages.js";
import { changePullRequest, getPullRequest } from "./pull-request-row.js";
import { endWaiting, noteLimit, pushAgain, waitToPush } from "./push-limits.js";
import {
  allowAtOnce,
  allowPush,
  askAgain,
  endWithoutPush,
  refuseAsk,
  removePullRequest,
  vet,
  vetAgain,
} from "./vetting.js";

const { on, machine } = createChart<PullRequestContext, PullRequestEvent>();

const becomesMerged = on("became.merged", "merged", takeSeen, endOpening, end, readFiles);
const becomesClosed = on("became.closed", "closed", takeSeen, endOpening, end);
const becomesOpen = on("became.open", "open", takeSeen, endOpening, stayOpen);

/** Transitions of a pull request that has a row. */
const known = {
  ...on("request.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("pull-request.forget", "none", removePullRequest),
  ...on("became.same", takeSeen),
  ...on("look.same", lookLater),
  ...on("look.later", lookLater),
  ...on("look.gone", takeGone, lookLater),
  ...on("refresh.taken", ({ turn }) => turn.reply({ pullRequest: getPullRequest(turn), replayed: false }), lookAnew),
  ...on("request.repeated", ({ turn }) => turn.reply({ pullRequest: getPullRequest(turn), replayed: true })),
  ...on("pull-request.comment", storeComment),
  ...on("comment.due", writeComments),
  ...on("comment.ended", takeComment),
  ...on("reverted", takeReverted),
  ...on("ask.refused", refuseAsk),
};

/** Transitions of a pull request that is not merged. */
const unmerged = { ...known, ...becomesMerged };

/** Transitions of a pull request that a run is about to push to. */
const underWay = {
  ...unmerged,
  ...becomesClosed,
  ...on("left.none", "none", endWithoutPush),
  ...on("left.open", "open", endWithoutPush),
  ...on("left.failed", "failed", endWithoutPush),
  ...on("look.due", ({ turn }, context) => lookLater({ turn, untilMs: null }, context)),
};

const pullRequestMachine = machine({
  id: "pull-request",
  context: {
    run: null,
    taskAddress: null,
    was: "none",
    rejected: 0,
    attempts: 0,
    sinceMs: 0,
    etag: null,
    look: 0,
    reads: 0,
  },
  initial: "none",
  states: {
    none: {
      on: {
        ...on("ask.vet", "vetting", vet),
        ...on("ask.refused-none", refuseAsk, stop),
        ...on("request.refused", ({ turn, refusal }) => turn.reply(refusal), stop),
        ...on("pull-request.forget", removePullRequest),
      },
    },
    vetting: { on: { ...underWay, ...on("vet.allowed", "pushing", allowPush) } },
    pushing: {
      on: {
        ...underWay,
        ...on("pushed.first", "opening", takePushed, beginOpening),
        ...on("pushed.again", "open", takePushed, reopen, stayOpen),
        ...on("push.retried", "vetting", vetAgain),
        ...on("pull-request.limited", noteLimit),
        ...on("push.waits", waitToPush),
        ...on("push.due", pushAgain),
        ...on("left.none", "none", endWaiting, endWithoutPush),
        ...on("left.open", "open", endWaiting, endWithoutPush),
        ...on("left.failed", "failed", endWaiting, endWithoutPush),
        // These transitions do not notify the run yet. The run is notified after its push.
        ...on("became.merged", "merged", takeSeen, endWaiting, endPushing, readFiles),
        ...on("became.closed", "closed", takeSeen, endWaiting, endPushing),
      },
    },
    opening: {
      on: {
        ...unmerged,
        ...on("opening.due", attemptOpening),
        ...on("opening.again", waitToOpen),
        ...on("opening.limited", waitForLimit),
        ...on("opening.failed", "failed", failOpening, askAgain),
        ...on("became.open", "open", takeSeen, endOpening, stayOpen, askAgain),
        ...on("became.closed", "closed", takeSeen, endOpening, end, askAgain),
        ...on("became.merged", "merged", takeSeen, endOpening, end, readFiles, askAgain),
        ...on("ask.later", ({ ask }) => ({ later: ask })),
        ...on("later.lost", () => ({ later: null })),
      },
    },
    open: {
      on: {
        ...unmerged,
        ...on("ask.vet", "vetting", vet),
        ...on("ask.push", "pushing", allowAtOnce),
        ...becomesClosed,
        ...on("look.due", look),
      },
    },
    closed: { on: { ...unmerged, ...becomesOpen, ...on("pushed.over", takePushedOver) } },
    merged: {
      on: {
        ...known,
        ...on("files.due", readFiles),
        ...on("files.later", readFilesLater),
        ...on("files.read", takeFiles),
        ...on("pushed.over", takePushedOver),
      },
    },
    failed: {
      on: {
        ...unmerged,
        ...on("ask.vet", "vetting", vet),
        ...becomesOpen,
        ...becomesClosed,
        ...on("pull-request.retry", "opening", retry, beginOpening),
      },
    },
  },
});

function reopen({ turn }: InTurn, context: PullRequestContext): void {
  changePullRequest(turn, context, { state: "open" });
}

function retry(event: PullRequestEventOf<"pull-request.retry">): void {
  const { turn } = event;
  recordRequest(turn, event, turn.self.id);
  turn.reply({ pullRequest: getPullRequest(turn), replayed: false });
}

function stop({ turn }: InTurn): void {
  turn.stop();
}

/** Creates the actor of the machine above. The actor finds the pull request's task through `owners`. */
export function pullRequestActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(pullRequestRef, {
    machine: pullRequestMachine,
    classify: classifyPullRequest(owners),
    version: 1,
  });
}
