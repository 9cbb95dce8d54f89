/**
 * One attempt of an agent at a station, `run/<id>`. `classify-run.ts` classifies each message before the step. If an
 * event's name differs from the message's name, the message follows in brackets.
 *
 * | state            | moved by                                 | next        | also                                  |
 * |------------------|------------------------------------------|-------------|---------------------------------------|
 * | new              | run.start                                | queued      | enters the dispatcher's queue         |
 * | queued           | run.claim                                | claimed     | the fence rises; gate `run.starting`, |
 * |                  |                                          |             | or the runner is assigned to the run  |
 * | claimed          | start.agreed (gate.answered)             | claimed     | the runner is assigned to the run     |
 * | claimed          | start.refused (gate.answered)            | ended       | withdrawn, with the refusal           |
 * | claimed          | run.started (run.said)                   | running     | the starting commits are              |
 * |                  |                                          |             | recorded; the owner is notified       |
 * | claimed,running  | run.step (run.said)                      | same        | recorded, published in the stream     |
 * | any but new      | message.taken (run.speak)                | same        | a step; sent to the runner            |
 * | any but new      | message.refused (run.speak)              | same        | refused                               |
 * | claimed,running  | run.heard (run.said)                     | same        |                                       |
 * | claimed,running  | run.permission (run.said)                | same        | waits for the assignee, the owner is  |
 * |                  |                                          |             | notified; dismissed when too many     |
 * |                  |                                          |             | wait                                  |
 * | any but new      | approval.answered (approval.answer)      | same        | the answer is sent to the runner      |
 * | any but new      | approval.repeated (approval.answer under | same        | answered with the approval            |
 * |                  | a key that was used before)              |             |                                       |
 * | any but new      | approval.refused (approval.answer)       | same        | refused                               |
 * | claimed,running  | run.tool-call (run.said)                 | same        | passed on to a call of its own, or    |
 * |                  |                                          |             | refused                               |
 * | claimed,running  | run.tool-cancelled (run.said)            | same        | passed on to the call                 |
 * | claimed,running  | call.waits                               | same        | the owner is notified                 |
 * | any but new      | call.over                                | same        | counted                               |
 * | claimed,running  | run.handover (run.said)                  | same        | gate `handover.giving`, or answered   |
 * | claimed,running  | handover.answered (gate.answered)        | same        | the answer is sent to the runner      |
 * | running          | start.agreed, start.refused              | running     |                                       |
 * | claimed,running  | run.ended (run.said)                     | ended       | completed, failed or stopped; failed  |
 * |                  |                                          |             | when its handover was not accepted    |
 * | claimed,running  | wish.taken (run.said                     | same        | asks the task's pull request          |
 * |                  | run.pull-request)                        |             |                                       |
 * | claimed,running  | wish.refused (run.said run.pull-request) | same        | the agent gets the reason             |
 * | running          | end.held (run.said run.ended)            | ending      | completed with changes to push: asks  |
 * |                  |                                          |             | the pull request of the first         |
 * | claimed,running, | push.granted                             | same        | the runner gets the push order        |
 * | ending           | (pull-request.allowed)                   |             |                                       |
 * | claimed,running, | push.reported (run.said                  | same        | the pull request is notified          |
 * | ending           | run.pushed, run.push-rejected)           |             |                                       |
 * | claimed,running, | push.unanswered (woken `push`)           | same, ended | the pull request learns that the push |
 * | ending           |                                          |             | is lost; an ending run ends completed |
 * | claimed,running, | push.late (woken `push`)                 | same        | the service was down: waits as long   |
 * | ending           |                                          |             | again                                 |
 * | claimed,running, | told.one (pull-request.told)             | same        | the agent is answered; an ending run  |
 * | ending           |                                          |             | asks the next pull request            |
 * | ending           | pushes.over (pull-request.told)          | ended       | completed; the runner drops it        |
 * | ending           | claim.lost                               | ended       | completed: its work is stored;        |
 * |                  |                                          |             | changes not pushed are recorded       |
 * | ending           | run.end                                  | ended       | with its outcome                      |
 * | claimed          | job.undeliverable                        | ended       | failed: the job could not be sent     |
 * | claimed,running  | claim.lost                               | ended       | abandoned; stopped if it was asked to |
 * | claimed,running  | run.stop (run.end `stopped`, assigned)   | same        | the runner is asked to stop; open     |
 * |                  |                                          |             | approvals close; calls that have not  |
 * |                  |                                          |             | started are withdrawn, as at any end  |
 * | claimed,running  | stop.unanswered (woken `stop`)           | ended       | stopped: the runner did not answer    |
 * | claimed,running  | stop.late (woken `stop`)                 | same        | the service was down: waits as long   |
 * |                  |                                          |             | again                                 |
 * | queued,claimed,  | run.end                                  | ended       | with its outcome; the runner drops it |
 * | running          |                                          |             |                                       |
 * | any but new      | claim.stale (run.said of another claim)  | same        | that runner gets `run.drop`           |
 * | ended            | run.claim                                | ended       | the claim is released                 |
 * | new              | claim.orphaned (run.claim of a removed   | new         | the claim is released                 |
 * |                  | run)                                     |             |                                       |
 * | ended            | run.forget                               | (ended)     | the run is removed                    |
 * | new              | run.forget                               | (ended)     | removes a row without its actor       |
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { answerApproval, askPermission, closeApprovalsOnStop, notifyOwner, STOPPING } from "./approvals.js";
import { classifyRun, type RunEvent } from "./classify-run.js";
import { recordDelivered, sendMessage } from "./conversation.js";
import { answerHandover, askHandover } from "./hand-over.js";
import type { RunContext } from "./run.js";
import { runRef } from "./run.messages.js";
import { forgetRun } from "./run.retention.js";
import { assignRunner, awaitStop, beginRun, claimRun, queueRun, recordStep, stopRun } from "./run.transitions.js";
import {
  dropStale,
  endAfterPushes,
  endByReport,
  endLost,
  endRun,
  endUnanswered,
  endUndeliverable,
  endWithLostPushes,
  holdForPushes,
  releaseClaim,
} from "./run-ending.js";
import type { RunOwner } from "./run-owner.js";
import {
  answerWish,
  askForWish,
  awaitPush,
  forwardPush,
  grantPush,
  LOST,
  losePushesGiven,
  processResult,
  UNANSWERED,
} from "./run-pushes.js";
import { askToolCall, cancelToolCall, countToolCall, endToolCalls } from "./tool-calls.js";

const initialContext: RunContext = {
  fence: 0,
  runnerId: null,
  assigned: false,
  handover: null,
  said: 0,
  stopping: false,
  pushes: [],
  held: [],
  hasAsked: false,
};

const { on, machine } = createChart<RunContext, RunEvent>();

/** Transitions of every state after the start. */
const always = {
  ...on("message.taken", sendMessage),
  ...on("message.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("approval.answered", (event, context) => answerApproval(event, context, event.owner)),
  ...on("approval.repeated", ({ turn, approval }) => turn.reply({ approval, replayed: true })),
  ...on("approval.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("claim.stale", (event) => dropStale(event.turn, event)),
  ...on("call.over", (event) => countToolCall(event.turn, event)),
};

/** Transitions of the states in which a runner may push. */
const pushing = {
  ...always,
  ...on("push.granted", ({ turn, allowed }, context) => grantPush(turn, context, allowed)),
  ...on("push.reported", (event, context) => forwardPush(event.turn, context, event)),
  ...on("push.late", ({ turn }) => awaitPush(turn)),
  ...on("told.one", ({ turn, told }, context) => processResult(turn, context, told)),
  ...on("run.end", "ended", ({ turn, outcome, reason, owner }, context) =>
    endRun(turn, context, { outcome, reason }, owner),
  ),
};

/** Transitions of the states in which a runner works on the run. */
const workTransitions = {
  ...pushing,
  ...on("wish.taken", (event, context) => askForWish(event.turn, context, event)),
  ...on("wish.refused", ({ turn, id, why }, context) => answerWish(turn, context, { id, url: null, refused: why })),
  ...on("push.unanswered", ({ turn }, context) => losePushesGiven(turn, context, UNANSWERED)),
  ...on("run.step", ({ turn, step }, context) => recordStep(turn, context, step)),
  ...on("run.heard", ({ turn, n }, context) => recordDelivered(turn, context, n)),
  ...on("run.permission", (event, context) => askPermission(event.turn, context, event, event.owner)),
  ...on("run.tool-call", (event, context) => askToolCall(event.turn, context, event)),
  ...on("run.tool-cancelled", (event) => cancelToolCall(event.turn, event)),
  ...on("call.waits", ({ turn, owner }) => notifyOwner(turn, owner)),
  ...on("run.handover", (event, context) => askHandover(event.turn, context, event, event.owner)),
  ...on("handover.answered", (event, context) => answerHandover(event.turn, context, event)),
  ...on("run.ended", "ended", (event, context) => endByReport(event.turn, context, event, event.owner)),
  ...on("claim.lost", "ended", ({ turn, owner }, context) => endLost(turn, context, owner)),
  ...on(
    "run.stop",
    ({ turn, reason }, context) => stopRun(turn, context, reason),
    ({ turn, owner }, context) => closeApprovalsOnStop(turn, context, owner),
    ({ turn }, context) => endToolCalls(turn, context, { reason: STOPPING, ended: false }),
  ),
  ...on("stop.late", ({ turn }) => awaitStop(turn)),
  ...on("stop.unanswered", "ended", ({ turn, owner }, context) => endUnanswered(turn, context, owner)),
};

const runMachine = machine({
  id: "run",
  context: initialContext,
  initial: "new",
  states: {
    new: {
      on: {
        ...on("run.start", "queued", queueRun),
        ...on("run.forget", "new", ({ turn }) => forgetRun(turn)),
        ...on("claim.orphaned", "new", giveBack, ({ turn }) => turn.stop()),
      },
    },
    queued: {
      on: {
        ...always,
        ...on("run.claim", "claimed", (event, context) => claimRun(context, event, event.owner)),
        ...on("run.end", "ended", ({ turn, outcome, reason, owner }, context) =>
          endRun(turn, context, { outcome, reason }, owner),
        ),
      },
    },
    claimed: {
      on: {
        ...workTransitions,
        ...on("start.agreed", ({ turn }, context) => assignRunner(turn, context)),
        ...on("start.refused", "ended", ({ turn, why, owner }, context) =>
          endRun(turn, context, { outcome: "withdrawn", reason: why }, owner),
        ),
        ...on("run.started", "running", (event) => beginRun(event.turn, event)),
        ...on("job.undeliverable", "ended", ({ turn, why, owner }, context) =>
          endUndeliverable(turn, context, why, owner),
        ),
      },
    },
    running: {
      on: {
        ...workTransitions,
        ...on("start.agreed"),
        ...on("start.refused"),
        ...on("end.held", "ending", (event, context) => holdForPushes(event.turn, context, event)),
      },
    },
    ending: {
      on: {
        ...pushing,
        ...on(
          "pushes.over",
          "ended",
          ({ turn, told }, context) => processResult(turn, context, told),
          ({ turn, owner }, context) => endAfterPushes(turn, context, owner),
        ),
        ...on("claim.lost", "ended", ({ turn, owner }, context) => endWithLostPushes(turn, context, LOST, owner)),
        ...on("push.unanswered", "ended", ({ turn, owner }, context) =>
          endWithLostPushes(turn, context, UNANSWERED, owner),
        ),
        ...on("stop.late"),
        ...on("stop.unanswered"),
      },
    },
    ended: {
      on: {
        ...always,
        ...on("run.claim", giveBack),
        ...on("run.forget", "ended", ({ turn }) => forgetRun(turn)),
      },
    },
  },
});

function giveBack({ turn, runnerId }: InTurn & { readonly runnerId: string }): void {
  releaseClaim(turn, runnerId);
}

/** Creates the actor of the machine above. `owners` is the catalogue of owner kinds. */
export function runActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(runRef, {
    machine: runMachine,
    classify: classifyRun(owners),
    version: 3,
    // Version 2 added messages of people to a run. Version 3 added pushes of the run's changes.
    migrate: ({ value, context }) => ({
      value,
      context: Object.assign({}, initialContext, { hasAsked: true }, context),
    }),
  });
}
