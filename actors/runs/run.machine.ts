/**
 * One attempt of an agent at a station, `run/<id>`. Messages are classified before the step (`classify-run.ts`). Where
 * an event has another name than its message, the message follows in brackets.
 *
 * | state           | moved by                                  | next           | also                                    |
 * |-----------------|-------------------------------------------|----------------|-----------------------------------------|
 * | new             | run.start                                 | queued         | joins the dispatcher's queue            |
 * | queued          | run.claim                                 | claimed        | the fence rises; gate `run.starting`,   |
 * |                 |                                           |                | or the runner is assigned to the run    |
 * | claimed         | start.agreed (gate.answered)              | claimed        | the runner is assigned to the run       |
 * | claimed         | start.refused (gate.answered)             | ended          | withdrawn, with the refusal             |
 * | claimed         | run.started (run.said)                    | running        | the commits it begins from are          |
 * |                 |                                           |                | recorded; the owner is notified         |
 * | claimed,running | run.step (run.said)                       | same           | recorded, published in the stream       |
 * | any but new     | message.taken (run.speak)                 | same           | a step; sent to the runner              |
 * | any but new     | message.refused (run.speak)               | same           | refused                                 |
 * | claimed,running | run.heard (run.said)                      | same           |                                         |
 * | claimed,running | run.permission (run.said)                 | same           | waits for the assignee, the owner is    |
 * |                 |                                           |                | notified; dismissed when too many wait  |
 * | any but new     | approval.answered (approval.answer)       | same           | the answer is sent to the runner        |
 * | any but new     | approval.repeated (approval.answer under  | same           | answered with the approval              |
 * |                 | a key that was taken before)              |                |                                         |
 * | any but new     | approval.refused (approval.answer)        | same           | refused                                 |
 * | claimed,running | run.tool-call (run.said)                  | same           | passed on to a call of its own, or      |
 * |                 |                                           |                | refused                                 |
 * | claimed,running | run.tool-cancelled (run.said)             | same           | passed on to the call                   |
 * | claimed,running | call.waits                                | same           | the owner is notified                   |
 * | any but new     | call.over                                 | same           | counted                                 |
 * | claimed,running | run.handover (run.said)                   | same           | gate `handover.giving`, or answered     |
 * | claimed,running | handover.answered (gate.answered)         | same           | the answer is sent to the runner        |
 * | running         | start.agreed, start.refused               | running        |                                         |
 * | claimed,running | run.ended (run.said)                      | ended          | completed, failed or stopped; failed    |
 * |                 |                                           |                | when its handover was not accepted      |
 * | claimed,running | wish.taken (run.said              | same           | asks the task's pull request            |
 * |                 | run.pull-request)                 |                |                                         |
 * | claimed,running | wish.refused (the same)           | same           | the agent is told why                   |
 * | running         | end.held (run.said run.ended)     | ending         | completed with changes to push: asks    |
 * |                 |                                   |                | the pull request of the first           |
 * | claimed,running,| push.granted                      | same           | the runner is told to push              |
 * | ending          | (pull-request.allowed)            |                |                                         |
 * | claimed,running,| push.reported (run.said           | same           | the pull request is told                |
 * | ending          | run.pushed, run.push-rejected)    |                |                                         |
 * | claimed,running,| push.unanswered (woken `push`)    | same, ended    | the pull request is told that it is     |
 * | ending          |                                   |                | lost; a held run ends completed         |
 * | claimed,running,| push.late (woken `push`)          | same           | the service was down: waits as long     |
 * | ending          |                                   |                | again                                   |
 * | claimed,running,| told.one (pull-request.told)      | same           | the agent is answered; a held run asks  |
 * | ending          |                                   |                | the next pull request                   |
 * | ending          | pushes.over (pull-request.told)   | ended          | completed; the runner drops it          |
 * | ending          | claim.lost                        | ended          | completed: its work is stored; what was |
 * |                 |                                   |                | not pushed is recorded                  |
 * | ending          | run.end                           | ended          | with its outcome                        |
 * | claimed         | job.undeliverable                         | ended          | failed: no runner could take the job    |
 * | claimed,running | claim.lost                                | ended          | abandoned; stopped when it was told to  |
 * | claimed,running | run.stop (run.end `stopped`, assigned)    | same           | the runner is told to stop; open        |
 * |                 |                                           |                | approvals close and calls are withdrawn |
 * |                 |                                           |                | that have not begun, as at every end    |
 * | claimed,running | stop.unanswered (woken `stop`)            | ended          | stopped: the runner did not answer      |
 * | claimed,running | stop.late (woken `stop`)                  | same           | the service was down: waits as long     |
 * |                 |                                           |                | again                                   |
 * | queued,claimed, | run.end                                   | ended          | with its outcome; the runner drops it   |
 * | running         |                                           |                |                                         |
 * | any but new     | claim.stale (run.said of another claim)   | same           | that runner is told to drop the claim   |
 * | ended           | run.claim                                 | ended          | the claim is given back                 |
 * | new             | claim.orphaned (run.claim of a removed    | new            | the claim is given back                 |
 * |                 | run)                                      |                |                                         |
 * | ended           | run.forget                                | (ended)        | the run is removed                      |
 * | new             | run.forget                                | (ended)        | the same, for a row without its actor   |
 */
import { assertEvent, assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { answerApproval, askPermission, closeApprovalsOnStop, notifyOwner, STOPPING } from "./approvals.js";
import { classifyRun } from "./classify-run.js";
import { recordDelivered, sendMessage } from "./conversation.js";
import { answerHandover, askHandover } from "./hand-over.js";
import { runRef } from "./run.messages.js";
import { forgetRun } from "./run.retention.js";
import { assignRunner, awaitStop, beginRun, claimRun, queueRun, recordStep, stopRun } from "./run.transitions.js";
import {
  dropStale,
  endByReport,
  endHeld,
  endHeldLost,
  endLost,
  endRun,
  endUnanswered,
  endUndeliverable,
  holdForPushes,
  releaseClaim,
} from "./run-ending.js";
import type { RunContext, RunEvent } from "./run-events.js";
import type { RunOwner } from "./run-owner.js";
import {
  answerWish,
  askForWish,
  awaitPush,
  forwardPush,
  grantPush,
  LOST,
  losePushesGiven,
  takeTold,
  UNANSWERED,
} from "./run-pushes.js";
import { askToolCall, cancelToolCall, countToolCall, endToolCalls } from "./tool-calls.js";

const begun: RunContext = {
  ...{ fence: 0, runnerId: null, assigned: false, handover: null, said: 0, stopping: false },
  ...{ pushes: [], held: [], hasAsked: false },
};

/** Transitions of every state after the start. */
const always = {
  "message.taken": { actions: "sendMessage" },
  "message.refused": { actions: "refuse" },
  "approval.answered": { actions: "answerApproval" },
  "approval.repeated": { actions: "answerAgain" },
  "approval.refused": { actions: "refuse" },
  "claim.stale": { actions: "dropStale" },
  "call.over": { actions: "countToolCall" },
} as const;

/** Transitions of the states in which a runner may push. */
const pushing = {
  ...always,
  "push.granted": { actions: "grantPush" },
  "push.reported": { actions: "forwardPush" },
  "push.late": { actions: "awaitPush" },
  "told.one": { actions: "takeTold" },
  "run.end": { target: "ended", actions: "end" },
} as const;

/** Transitions of the states in which a runner works on the run. */
const held = {
  ...pushing,
  "wish.taken": { actions: "askForWish" },
  "wish.refused": { actions: "refuseWish" },
  "push.unanswered": { actions: "losePushesGiven" },
  "run.step": { actions: "recordStep" },
  "run.heard": { actions: "recordDelivered" },
  "run.permission": { actions: "askPermission" },
  "run.tool-call": { actions: "askToolCall" },
  "run.tool-cancelled": { actions: "cancelToolCall" },
  "call.waits": { actions: "notifyOwner" },
  "run.handover": { actions: "askHandover" },
  "handover.answered": { actions: "answerHandover" },
  "run.ended": { target: "ended", actions: "endByReport" },
  "claim.lost": { target: "ended", actions: "endLost" },
  "run.stop": { actions: ["stop", "closeApprovalsOnStop", "withdrawToolCalls"] },
  "stop.late": { actions: "awaitStop" },
  "stop.unanswered": { target: "ended", actions: "endUnanswered" },
} as const;

const machine = setup({
  types: { context: {} as RunContext, events: {} as Delivered<RunEvent> },
  actions: {
    claim: assign(({ context, event }) => {
      assertEvent(event, "run.claim");
      return claimRun(context, event, event.owner);
    }),
    releaseClaim: ({ event }) => {
      assertEvent(event, "run.claim");
      releaseClaim(event.turn, event.runnerId);
    },
    assignRunner: assign(({ context, event }) => assignRunner(event.turn, context)),
    refuseStart: ({ context, event }) => {
      assertEvent(event, "start.refused");
      endRun(event.turn, context, { outcome: "withdrawn", reason: event.why }, event.owner);
    },
    begin: ({ event }) => {
      assertEvent(event, "run.started");
      beginRun(event.turn, event);
    },
    recordStep: ({ context, event }) => {
      assertEvent(event, "run.step");
      recordStep(event.turn, context, event.step);
    },
    recordDelivered: ({ context, event }) => {
      assertEvent(event, "run.heard");
      recordDelivered(event.turn, context, event.n);
    },
    sendMessage: assign(({ context, event }) => {
      assertEvent(event, "message.taken");
      return sendMessage(event, context);
    }),
    refuse: ({ event }) => {
      assertEvent(event, ["message.refused", "approval.refused"]);
      event.turn.reply(event.refusal);
    },
    askPermission: assign(({ context, event }) => {
      assertEvent(event, "run.permission");
      return askPermission(event.turn, context, event, event.owner);
    }),
    answerApproval: ({ context, event }) => {
      assertEvent(event, "approval.answered");
      answerApproval(event, context, event.owner);
    },
    answerAgain: ({ event }) => {
      assertEvent(event, "approval.repeated");
      event.turn.reply({ approval: event.approval, replayed: true });
    },
    closeApprovalsOnStop: ({ context, event }) => {
      assertEvent(event, "run.stop");
      closeApprovalsOnStop(event.turn, context, event.owner);
    },
    withdrawToolCalls: ({ context, event }) => endToolCalls(event.turn, context, { reason: STOPPING, ended: false }),
    askToolCall: assign(({ context, event }) => {
      assertEvent(event, "run.tool-call");
      return askToolCall(event.turn, context, event);
    }),
    cancelToolCall: ({ event }) => {
      assertEvent(event, "run.tool-cancelled");
      cancelToolCall(event.turn, event);
    },
    notifyOwner: ({ event }) => {
      assertEvent(event, "call.waits");
      notifyOwner(event.turn, event.owner);
    },
    countToolCall: ({ event }) => {
      assertEvent(event, "call.over");
      countToolCall(event.turn, event);
    },
    askHandover: assign(({ context, event }) => {
      assertEvent(event, "run.handover");
      return askHandover(event.turn, context, event, event.owner);
    }),
    answerHandover: assign(({ context, event }) => {
      assertEvent(event, "handover.answered");
      return answerHandover(event.turn, context, event);
    }),
    stop: assign(({ context, event }) => {
      assertEvent(event, "run.stop");
      return stopRun(event.turn, context, event.reason);
    }),
    awaitStop: ({ event }) => awaitStop(event.turn),
    endByReport: ({ context, event }) => {
      assertEvent(event, "run.ended");
      endByReport(event.turn, context, event, event.owner);
    },
    endUndeliverable: ({ context, event }) => {
      assertEvent(event, "job.undeliverable");
      endUndeliverable(event.turn, context, event.why, event.owner);
    },
    endLost: ({ context, event }) => {
      assertEvent(event, "claim.lost");
      endLost(event.turn, context, event.owner);
    },
    endUnanswered: ({ context, event }) => {
      assertEvent(event, "stop.unanswered");
      endUnanswered(event.turn, context, event.owner);
    },
    hold: assign(({ context, event }) => {
      assertEvent(event, "end.held");
      return holdForPushes(event.turn, context, event);
    }),
    askForWish: assign(({ context, event }) => {
      assertEvent(event, "wish.taken");
      return askForWish(event.turn, context, event);
    }),
    refuseWish: ({ context, event }) => {
      assertEvent(event, "wish.refused");
      answerWish(event.turn, context, { id: event.id, url: null, refused: event.why });
    },
    grantPush: assign(({ context, event }) => {
      assertEvent(event, "push.granted");
      return grantPush(event.turn, context, event.allowed);
    }),
    forwardPush: assign(({ context, event }) => {
      assertEvent(event, "push.reported");
      return forwardPush(event.turn, context, event);
    }),
    awaitPush: ({ event }) => awaitPush(event.turn),
    losePushesGiven: ({ context, event }) => losePushesGiven(event.turn, context, UNANSWERED),
    takeTold: assign(({ context, event }) => {
      assertEvent(event, ["told.one", "pushes.over"]);
      return takeTold(event.turn, context, event.told);
    }),
    endHeld: ({ context, event }) => {
      assertEvent(event, "pushes.over");
      endHeld(event.turn, context, event.owner);
    },
    endHeldLost: ({ context, event }) => {
      assertEvent(event, ["claim.lost", "push.unanswered"]);
      endHeldLost(event.turn, context, event.type === "claim.lost" ? LOST : UNANSWERED, event.owner);
    },
    end: ({ context, event }) => {
      assertEvent(event, "run.end");
      endRun(event.turn, context, { outcome: event.outcome, reason: event.reason }, event.owner);
    },
    dropStale: ({ event }) => {
      assertEvent(event, "claim.stale");
      dropStale(event.turn, event);
    },
    forget: ({ event }) => forgetRun(event.turn),
    giveBack: ({ event }) => {
      assertEvent(event, "claim.orphaned");
      releaseClaim(event.turn, event.runnerId);
    },
    leave: ({ event }) => event.turn.stop(),
    ignore: () => undefined,
  },
}).createMachine({
  id: "run",
  context: begun,
  initial: "new",
  states: {
    new: {
      on: {
        "run.start": { target: "queued", actions: ({ event }) => queueRun(event) },
        "run.forget": { target: "new", actions: "forget" },
        "claim.orphaned": { target: "new", actions: ["giveBack", "leave"] },
      },
    },
    queued: {
      on: {
        ...always,
        "run.claim": { target: "claimed", actions: "claim" },
        "run.end": { target: "ended", actions: "end" },
      },
    },
    claimed: {
      on: {
        ...held,
        "start.agreed": { actions: "assignRunner" },
        "start.refused": { target: "ended", actions: "refuseStart" },
        "run.started": { target: "running", actions: "begin" },
        "job.undeliverable": { target: "ended", actions: "endUndeliverable" },
      },
    },
    running: {
      on: {
        ...held,
        "start.agreed": { actions: "ignore" },
        "start.refused": { actions: "ignore" },
        "end.held": { target: "ending", actions: "hold" },
      },
    },
    ending: {
      on: {
        ...pushing,
        "pushes.over": { target: "ended", actions: ["takeTold", "endHeld"] },
        "claim.lost": { target: "ended", actions: "endHeldLost" },
        "push.unanswered": { target: "ended", actions: "endHeldLost" },
        "stop.late": { actions: "ignore" },
        "stop.unanswered": { actions: "ignore" },
      },
    },
    ended: {
      on: {
        ...always,
        "run.claim": { actions: "releaseClaim" },
        "run.forget": { target: "ended", actions: "forget" },
      },
    },
  },
});

/** See the table above; `owners` is the catalogue of the kinds of owner. */
export function runActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(runRef, {
    ...{ machine, classify: classifyRun(owners), version: 3 },
    // Before version 2 nobody could send messages to a run; before version 3 none of its changes were pushed.
    migrate: ({ value, context }) => ({ value, context: Object.assign({}, begun, { hasAsked: true }, context) }),
  });
}
