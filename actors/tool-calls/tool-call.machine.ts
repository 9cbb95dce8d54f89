/**
 * A call of an integration's tool by a run's agent, `tool-call/<id>`. Messages are classified before the step
 * (`classify-tool-call.ts`). Where an event has another name than its message, the message follows in brackets. At its
 * end the actor leaves; what it was stands in its row.
 *
 * | state   | moved by                                  | next      | also                                             |
 * |---------|-------------------------------------------|-----------|--------------------------------------------------|
 * | new     | ask.taken (call.ask)                      | vetting   | the row; gate `tool.using`                       |
 * | new     | ask.failed (call.ask: inputs wrong, tool  | failed    | the row; the agent is told; nothing is sent      |
 * |         | gone, nobody to act as)                   |           |                                                  |
 * | new     | ask.refused (call.ask: too many)          | (new)     | the agent is told                                |
 * | new     | ask.repeated (call.ask of what is open)   | (new)     | the open one answers it too                      |
 * | new     | ask.recorded (call.ask of a run that      | (new)     | the row, ended as the recorded call was; refused |
 * |         | repeats another)                          |           | without one; nothing is asked or sent            |
 * | new     | ask.late (call.ask of an ended run)       | (new)     |                                                  |
 * | new     | cancel.elsewhere (call.cancel)            | (new)     | passed on to the call that answers the ask       |
 * | vetting | gate.refused (gate.answered)              | refused   | the agent gets the words of the hook             |
 * | vetting | gate.agreed (gate.answered: nobody has to | running   | the request begins                               |
 * |         | approve, or somebody has)                 |           |                                                  |
 * | vetting | gate.waits (gate.answered)                | waiting   | an approval; the task goes to the inbox, or the  |
 * |         |                                           |           | person's own rule asks; wake-up after 24 hours   |
 * | vetting | gate.unusable (gate.answered: the tool or | failed    | nothing is sent                                  |
 * |         | the person is gone)                       |           |                                                  |
 * | waiting | answer.approved (call.answer)             | running   | the request begins                               |
 * | waiting | answer.in-vain (the same, tool or person  | failed    | nothing is sent                                  |
 * |         | gone)                                     |           |                                                  |
 * | waiting | answer.edited (call.answer)               | vetting   | gate `tool.using` again                          |
 * | waiting | answer.dismissed (call.answer)            | dismissed | the agent is told why                            |
 * | waiting | woken `unanswered`                        | dismissed | "nobody answered"                                |
 * | waiting | approver.gone (call.approver-left: the | failed    | the approval closes; nothing is sent             |
 * |         | person whose own rule asks is no longer   |           |                                                  |
 * |         | on the team)                              |           |                                                  |
 * | waiting | tool.gone (call.tool-changed: the team    | failed    | the approval closes; nothing is sent             |
 * |         | offers the tool no more)                  |           |                                                  |
 * | vetting,| cancel.last (call.cancel), call.run-over  | withdrawn | the approval closes                              |
 * | waiting |                                           |           |                                                  |
 * | running | request.done (effect.ended)               | done      | output; fact `tool.used`                         |
 * | running | request.failed (effect.ended)             | failed    | code and sentence; fact `tool.used` where it may |
 * |         |                                           |           | have left                                        |
 * | running | request.of-nothing (effect.ended: removed  | (new)     |                                                  |
 * |         | with its run)                             |           |                                                  |
 * | running | call.run-over                             | running   | recorded when it ends; nobody is told            |
 * | running | cancel.last                               | running   |                                                  |
 * | vetting,| cancel.one (call.cancel)                  | same      | somebody else waits still                        |
 * | waiting,|                                           |           |                                                  |
 * | running |                                           |           |                                                  |
 * | any     | answer.refused, answer.repeated           | same      | answered                                         |
 * |         | (call.answer)                             |           |                                                  |
 *
 * 1. The request is made once: after a crash only a GET is made again, anything else is `outcome-unknown`.
 * 2. Who has to approve is fixed when the call is asked for; whether it may still be made is looked at when it begins.
 */
import { assertEvent, assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import type { RunOwner } from "../runs/run-owner.js";
import { classifyToolCall } from "./classify-tool-call.js";
import { answerRecorded } from "./recorded-call.js";
import { toolCallRef } from "./tool-call.messages.js";
import {
  approveCall,
  beginRequest,
  beginWaiting,
  cancelAsk,
  joinCall,
  passCancelOn,
  takeAsk,
  vetEdited,
} from "./tool-call.transitions.js";
import {
  dismissCall,
  dismissUnanswered,
  fail,
  failApproved,
  failAsk,
  failRequest,
  failUnanswerable,
  finishCall,
  leaveRun,
  refuseAsk,
  refuseCall,
  withdrawCall,
} from "./tool-call-ending.js";
import type { ToolCallContext, ToolCallEvent } from "./tool-call-events.js";

const unasked: ToolCallContext = {
  ...{ runId: "", runnerId: "", fence: 0 },
  ...{ vettings: 0, approved: false, runEnded: false },
};

/** Why a call is withdrawn that nobody waits for any more. */
const CANCELLED = "The agent gave the call up.";

/** Transitions of every state of an open call, and of one that has left. */
const always = { "answer.refused": { actions: "refuse" }, "answer.repeated": { actions: "answerAgain" } } as const;

/** Transitions of the states in which nothing has begun. */
const notBegun = {
  ...always,
  "cancel.one": { actions: "cancelAsk" },
  "cancel.last": { target: "withdrawn", actions: "withdrawCancelled" },
  "call.run-over": { target: "withdrawn", actions: "withdraw" },
} as const;

const machine = setup({
  types: { context: {} as ToolCallContext, events: {} as Delivered<ToolCallEvent> },
  actions: {
    takeAsk: assign(({ event }) => {
      assertEvent(event, "ask.taken");
      return takeAsk(event);
    }),
    failAsk: assign(({ event }) => {
      assertEvent(event, "ask.failed");
      return failAsk(event);
    }),
    refuseAsk: ({ event }) => {
      assertEvent(event, "ask.refused");
      refuseAsk(event);
    },
    joinCall: ({ event }) => {
      assertEvent(event, "ask.repeated");
      joinCall(event);
    },
    answerRecorded: ({ event }) => {
      assertEvent(event, "ask.recorded");
      answerRecorded(event);
    },
    leaveRun: ({ event }) => {
      assertEvent(event, "ask.late");
      leaveRun(event.turn, event.ask.runId);
    },
    passCancelOn: ({ event }) => {
      assertEvent(event, "cancel.elsewhere");
      passCancelOn(event);
    },
    refuse: ({ event }) => {
      assertEvent(event, "answer.refused");
      event.turn.reply(event.refusal);
    },
    answerAgain: ({ event }) => {
      assertEvent(event, "answer.repeated");
      event.turn.reply({ approval: event.approval, replayed: true });
    },
    leave: ({ event }) => event.turn.stop(),
    refuseCall: ({ context, event }) => {
      assertEvent(event, "gate.refused");
      refuseCall(event.turn, context, event.why);
    },
    beginRequest: ({ context, event }) => {
      assertEvent(event, "gate.agreed");
      beginRequest(event, context);
    },
    beginWaiting: ({ context, event }) => {
      assertEvent(event, "gate.waits");
      beginWaiting(event, context);
    },
    fail: ({ context, event }) => {
      assertEvent(event, "gate.unusable");
      fail(event.turn, context, event);
    },
    approveCall: assign(({ context, event }) => {
      assertEvent(event, "answer.approved");
      return approveCall(event, context);
    }),
    failApproved: ({ context, event }) => {
      assertEvent(event, "answer.in-vain");
      failApproved(event, context);
    },
    vetEdited: assign(({ context, event }) => {
      assertEvent(event, "answer.edited");
      return vetEdited(event, context);
    }),
    dismissCall: ({ context, event }) => {
      assertEvent(event, "answer.dismissed");
      dismissCall(event, context);
    },
    dismissUnanswered: ({ context, event }) => dismissUnanswered(event.turn, context),
    failUnanswerable: ({ context, event }) => {
      assertEvent(event, ["approver.gone", "tool.gone"]);
      failUnanswerable(event.turn, context, event);
    },
    cancelAsk: ({ event }) => {
      assertEvent(event, ["cancel.one", "cancel.last"]);
      cancelAsk(event);
    },
    withdrawCancelled: ({ context, event }) => withdrawCall(event.turn, context, CANCELLED),
    withdraw: ({ context, event }) => {
      assertEvent(event, "call.run-over");
      withdrawCall(event.turn, { ...context, runEnded: event.ended }, event.reason);
    },
    noteRunOver: assign(({ context, event }) => {
      assertEvent(event, "call.run-over");
      return { ...context, runEnded: context.runEnded || event.ended };
    }),
    finishCall: ({ context, event }) => {
      assertEvent(event, "request.done");
      finishCall(event, context);
    },
    failRequest: ({ context, event }) => {
      assertEvent(event, "request.failed");
      failRequest(event, context);
    },
  },
}).createMachine({
  id: "tool-call",
  context: unasked,
  initial: "new",
  states: {
    new: {
      on: {
        "ask.taken": { target: "vetting", actions: "takeAsk" },
        "ask.failed": { target: "failed", actions: "failAsk" },
        "ask.refused": { actions: "refuseAsk" },
        "ask.repeated": { actions: "joinCall" },
        "ask.recorded": { actions: "answerRecorded" },
        "ask.late": { actions: "leaveRun" },
        "cancel.elsewhere": { actions: ["passCancelOn", "leave"] },
        "answer.refused": { actions: ["refuse", "leave"] },
        "answer.repeated": { actions: ["answerAgain", "leave"] },
      },
    },
    vetting: {
      on: {
        ...notBegun,
        "gate.refused": { target: "refused", actions: "refuseCall" },
        "gate.agreed": { target: "running", actions: "beginRequest" },
        "gate.waits": { target: "waiting", actions: "beginWaiting" },
        "gate.unusable": { target: "failed", actions: "fail" },
      },
    },
    waiting: {
      on: {
        ...notBegun,
        "answer.approved": { target: "running", actions: "approveCall" },
        "answer.in-vain": { target: "failed", actions: "failApproved" },
        "answer.edited": { target: "vetting", actions: "vetEdited" },
        "answer.dismissed": { target: "dismissed", actions: "dismissCall" },
        woken: { target: "dismissed", actions: "dismissUnanswered" },
        "approver.gone": { target: "failed", actions: "failUnanswerable" },
        "tool.gone": { target: "failed", actions: "failUnanswerable" },
      },
    },
    running: {
      on: {
        ...always,
        "cancel.one": { actions: "cancelAsk" },
        "cancel.last": { actions: "cancelAsk" },
        "call.run-over": { actions: "noteRunOver" },
        "request.done": { target: "done", actions: "finishCall" },
        "request.failed": { target: "failed", actions: "failRequest" },
        "request.of-nothing": { actions: "leave" },
      },
    },
    done: {},
    failed: {},
    dismissed: {},
    refused: {},
    withdrawn: {},
  },
});

/** See the table above; `owners` is the catalogue of the kinds of owner of runs. */
export function toolCallActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(toolCallRef, { machine, classify: classifyToolCall(owners), version: 1 });
}
