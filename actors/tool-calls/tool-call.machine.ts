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
import type { ActorType } from "../../runtime/actor-type.js";
import { chartOf, type InTurn } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { RunOwner } from "../runs/run-owner.js";
import { classifyToolCall, type ToolCallEvent } from "./classify-tool-call.js";
import { answerRecorded } from "./recorded-call.js";
import type { ToolCallContext } from "./tool-call.js";
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

/** Why a call is withdrawn that nobody waits for any more. */
const CANCELLED = "The agent gave the call up.";

const { on, machine } = chartOf<ToolCallContext, ToolCallEvent>();

const leave = ({ turn }: InTurn) => turn.stop();

/** Transitions of every state of an open call. */
const always = {
  ...on("answer.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("answer.repeated", ({ turn, approval }) => turn.reply({ approval, replayed: true })),
};

/** Transitions of the states in which nothing has begun. */
const notBegun = {
  ...always,
  ...on("cancel.one", cancelAsk),
  ...on("cancel.last", "withdrawn", ({ turn }, context) => withdrawCall(turn, context, CANCELLED)),
  ...on("call.run-over", "withdrawn", ({ turn, ended, reason }, context) =>
    withdrawCall(turn, { ...context, runEnded: ended }, reason),
  ),
};

const callMachine = machine({
  id: "tool-call",
  context: { runId: "", runnerId: "", fence: 0, vettings: 0, approved: false, runEnded: false },
  initial: "new",
  states: {
    new: {
      on: {
        ...on("ask.taken", "vetting", takeAsk),
        ...on("ask.failed", "failed", failAsk),
        ...on("ask.refused", refuseAsk),
        ...on("ask.repeated", joinCall),
        ...on("ask.recorded", answerRecorded),
        ...on("ask.late", ({ turn, ask }) => leaveRun(turn, ask.runId)),
        ...on("cancel.elsewhere", passCancelOn, leave),
        ...on("answer.refused", ({ turn, refusal }) => turn.reply(refusal), leave),
        ...on("answer.repeated", ({ turn, approval }) => turn.reply({ approval, replayed: true }), leave),
      },
    },
    vetting: {
      on: {
        ...notBegun,
        ...on("gate.refused", "refused", ({ turn, why }, context) => refuseCall(turn, context, why)),
        ...on("gate.agreed", "running", beginRequest),
        ...on("gate.waits", "waiting", beginWaiting),
        ...on("gate.unusable", "failed", (event, context) => fail(event.turn, context, event)),
      },
    },
    waiting: {
      on: {
        ...notBegun,
        ...on("answer.approved", "running", approveCall),
        ...on("answer.in-vain", "failed", failApproved),
        ...on("answer.edited", "vetting", vetEdited),
        ...on("answer.dismissed", "dismissed", dismissCall),
        ...on("woken", "dismissed", ({ turn }, context) => dismissUnanswered(turn, context)),
        ...on("approver.gone", "failed", (event, context) => failUnanswerable(event.turn, context, event)),
        ...on("tool.gone", "failed", (event, context) => failUnanswerable(event.turn, context, event)),
      },
    },
    running: {
      on: {
        ...always,
        ...on("cancel.one", cancelAsk),
        ...on("cancel.last", cancelAsk),
        ...on("call.run-over", ({ ended }, { runEnded }) => ({ runEnded: runEnded || ended })),
        ...on("request.done", "done", finishCall),
        ...on("request.failed", "failed", failRequest),
        ...on("request.of-nothing", leave),
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
  return defineActor(toolCallRef, { machine: callMachine, classify: classifyToolCall(owners), version: 1 });
}
