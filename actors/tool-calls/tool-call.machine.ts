/**
 * A call of an integration's tool by a run's agent, `tool-call/<id>`. `classify-tool-call.ts` classifies each message
 * before the step. If an event's name differs from the message's name, the message follows in brackets. The actor stops
 * when the call ends. The row keeps the result.
 *
 * | state    | event                                     | next      | also                                          |
 * |----------|-------------------------------------------|-----------|-----------------------------------------------|
 * | new      | ask.taken (call.ask)                      | vetting   | stores the row; asks the gate `tool.using`    |
 * | new      | ask.failed (call.ask: the inputs are      | failed    | stores the row; the agent gets the error;     |
 * |          | invalid, the tool was deleted, or there   |           | sends nothing                                 |
 * |          | is no account to use)                     |           |                                               |
 * | new      | ask.refused (call.ask: too many calls)    | (new)     | the agent gets the reason                     |
 * | new      | ask.repeated (call.ask of an open call)   | (new)     | the open call answers this request too        |
 * | new      | ask.recorded (call.ask of a run that      | (new)     | answers with the recorded outcome, or refuses |
 * |          | repeats another run)                      |           | if there is none; sends nothing else          |
 * | new      | ask.late (call.ask of an ended run)       | (new)     |                                               |
 * | new      | cancel.elsewhere (call.cancel)            | (new)     | passes it to the call that answers instead    |
 * | vetting  | gate.refused (gate.answered)              | refused   | the agent gets the hook's reason              |
 * | vetting  | gate.agreed (gate.answered: no approval   | running   | starts the request                            |
 * |          | is needed, or the call is approved)       |           |                                               |
 * | vetting  | gate.waits (gate.answered)                | waiting   | opens an approval; asks the assignee through  |
 * |          |                                           |           | the inbox, or the person whose own rule       |
 * |          |                                           |           | applies; wakes after at most 24 h             |
 * | vetting  | gate.unusable (gate.answered: the tool or | failed    | sends nothing                                 |
 * |          | the person is gone)                       |           |                                               |
 * | waiting  | answer.approved (call.answer)             | running   | starts the request                            |
 * | waiting  | answer.in-vain (call.answer: the tool or  | failed    | sends nothing                                 |
 * |          | the person is gone)                       |           |                                               |
 * | waiting  | answer.edited (call.answer)               | vetting   | asks the gate `tool.using` again              |
 * | waiting  | answer.dismissed (call.answer)            | dismissed | the agent gets the reason                     |
 * | waiting  | woken `unanswered`                        | dismissed | the agent learns that nobody answered         |
 * | waiting  | approver.gone (call.approver-left: the    | failed    | closes the approval; sends nothing            |
 * |          | person of the rule is not on the team)    |           |                                               |
 * | waiting  | tool.gone (call.tool-changed: the team    | failed    | closes the approval; sends nothing            |
 * |          | no longer offers the tool)                |           |                                               |
 * | vetting, | cancel.last (call.cancel), call.run-over  | withdrawn | closes the approval                           |
 * | waiting  |                                           |           |                                               |
 * | running  | request.done (effect.ended)               | done      | stores the output; publishes `tool.used`      |
 * | running  | request.failed (effect.ended)             | failed    | stores the error; publishes `tool.used` if    |
 * |          |                                           |           | the request may have been sent                |
 * | running  | request.of-nothing (effect.ended: the     | running   | stops                                         |
 * |          | call was removed with its run)            |           |                                               |
 * | running  | call.run-over                             | running   | the result is stored, but nobody gets it      |
 * | running  | cancel.last (call.cancel)                 | running   |                                               |
 * | vetting, | cancel.one (call.cancel)                  | same      | another request still waits for the outcome   |
 * | waiting, |                                           |           |                                               |
 * | running  |                                           |           |                                               |
 * | any      | answer.refused, answer.repeated           | same      | replies                                       |
 * |          | (call.answer)                             |           |                                               |
 *
 * 1. The request is sent once. After a crash, only a GET is repeated; any other method becomes `outcome-unknown`.
 * 2. The account and the approval rule are fixed when the agent asks for the call. When the request starts, the
 *    service checks again whether the call is still allowed.
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
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
  endWithoutAnswer,
  fail,
  failApproved,
  failAsk,
  failRequest,
  failUnanswerable,
  finishCall,
  refuseAsk,
  refuseCall,
  withdrawCall,
} from "./tool-call-ending.js";

/** The reason for withdrawing a call that the runner cancelled. */
const CANCELLED = "The agent cancelled the call.";

const { on, machine } = createChart<ToolCallContext, ToolCallEvent>();

const stopActor = ({ turn }: InTurn) => turn.stop();

/** Transitions of every state of an open call. */
const always = {
  ...on("answer.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("answer.repeated", ({ turn, approval }) => turn.reply({ approval, replayed: true })),
};

/** Transitions of the states before the request starts. */
const beforeStart = {
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
        ...on("ask.late", ({ turn, ask }) => endWithoutAnswer(turn, ask.runId)),
        ...on("cancel.elsewhere", passCancelOn, stopActor),
        ...on("answer.refused", ({ turn, refusal }) => turn.reply(refusal), stopActor),
        ...on("answer.repeated", ({ turn, approval }) => turn.reply({ approval, replayed: true }), stopActor),
      },
    },
    vetting: {
      on: {
        ...beforeStart,
        ...on("gate.refused", "refused", ({ turn, why }, context) => refuseCall(turn, context, why)),
        ...on("gate.agreed", "running", beginRequest),
        ...on("gate.waits", "waiting", beginWaiting),
        ...on("gate.unusable", "failed", (event, context) => fail(event.turn, context, event)),
      },
    },
    waiting: {
      on: {
        ...beforeStart,
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
        ...on("request.of-nothing", stopActor),
      },
    },
    done: {},
    failed: {},
    dismissed: {},
    refused: {},
    withdrawn: {},
  },
});

/** Creates the actor of the machine above. `owners` is the catalogue of run owner kinds. */
export function toolCallActor(owners: readonly RunOwner[]): ActorType {
  return defineActor(toolCallRef, { machine: callMachine, classify: classifyToolCall(owners), version: 1 });
}
