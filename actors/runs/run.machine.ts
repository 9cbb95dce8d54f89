/**
 * One attempt of an agent at a station, `run/<id>`.
 *
 * | state           | moved by                                  | next           | also                                    |
 * |-----------------|-------------------------------------------|----------------|-----------------------------------------|
 * | new             | run.start                                 | queued         | joins the dispatcher's queue            |
 * | queued          | run.claim                                 | claimed        | the fence rises; gate `run.starting`    |
 * | claimed         | gate.answered, agreed                     | claimed        | the runner is assigned the run          |
 * | claimed         | gate.answered, refused                    | ended          | withdrawn, with the refusal             |
 * | claimed         | run.started of the claim                  | running        |                                         |
 * | claimed,running | run.step of the claim                     | same           | kept, shown in the stream               |
 * | claimed,running | run.speak by the assignee               | same           | a step; the runner is told              |
 * | claimed,running | run.heard of the claim                    | same           |                                         |
 * | claimed,running | run.permission of the claim               | same           | waits for the assignee, the task in its |
 * |                 |                                           |                | inbox; dismissed when too many do       |
 * | claimed,running | approval.answer by the assignee           | same           | the runner is answered                  |
 * | any             | approval.answer otherwise                 | same           | refused                                 |
 * | any             | run.speak otherwise                       | same           | refused                                 |
 * | claimed,running | run.handover of the claim                 | same           | gate `handover.giving`, or refused      |
 * | claimed,running | gate.answered for a handover              | same           | the runner is answered                  |
 * | claimed,running | run.ended of the claim                    | ended          | completed, failed or stopped; failed    |
 * |                 |                                           |                | when it hands over without leave        |
 * | claimed         | job.undeliverable of the claim            | ended          | failed: no runner could take the job    |
 * | claimed,running | claim.lost                                | ended          | abandoned; stopped when it was told to  |
 * | queued          | run.end                                   | ended          | with its outcome                        |
 * | claimed,running | run.end `stopped`                         | same           | the runner is told to stop; what waits  |
 * |                 |                                           |                | for leave is closed, as at every end    |
 * | claimed,running | woken `stop`                              | ended          | stopped: the runner did not answer      |
 * | claimed,running | woken `stop`, late                        | same           | the service was down: the same time     |
 * |                 |                                           |                | again                                   |
 * | claimed,running | run.end                                   | ended          | with its outcome; the runner drops it   |
 * | any             | run.said with another fence               | same           | that runner is told to drop the claim   |
 * | ended           | run.claim                                 | ended          | the claim is given back                 |
 */
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import type { Delivered, GateAnswer, Turn, Woken } from "../../runtime/turn.js";
import type { ClaimRun } from "../runners/dispatcher.machine.js";
import type { ClaimLost, RunSaid } from "../runners/runner.messages.js";
import { answerApproval, askPermission, closeApprovalsOnStop, refuseAnswer } from "./approvals.js";
import { recordDelivered, refuseMessage, sendMessage } from "./conversation.js";
import { answerHandover, askHandover, type PendingHandover } from "./hand-over.js";
import type { AnswerApproval, EndRun, JobUndeliverable, SendMessage, StartRun } from "./run.messages.js";
import {
  assignRunner,
  awaitStop,
  beginRun,
  claimRun,
  getRunRow,
  queueRun,
  recordStep,
  STARTING,
  stopRun,
} from "./run.transitions.js";
import {
  dropStale,
  endByReport,
  endLost,
  endRun,
  endUnanswered,
  endUndeliverable,
  releaseClaim,
} from "./run-ending.js";
import { getRunOwner, type RunOwner } from "./run-owner.js";

/** Small on purpose: what is read of a run stands in its row. */
export interface RunContext {
  readonly fence: number;
  readonly runnerId: string | null;
  /** Whether the runner was given the run. */
  readonly assigned: boolean;
  readonly handover: PendingHandover | null;
  /** Messages that people said to it so far. */
  readonly said: number;
  /** Whether its runner was told to stop. */
  readonly stopping: boolean;
}

type RunEvent = Delivered<
  | StartRun
  | ClaimRun
  | RunSaid
  | ClaimLost
  | JobUndeliverable
  | EndRun
  | GateAnswer
  | SendMessage
  | AnswerApproval
  | Woken
>;

/** A wake-up that comes later than this was due while the service was down, in milliseconds. */
const LATE_MS = 5_000;
const begun: RunContext = { fence: 0, runnerId: null, assigned: false, handover: null, said: 0, stopping: false };

function createRunMachine(owners: readonly RunOwner[]) {
  const ownerOf = (turn: Turn): RunOwner => getRunOwner(owners, getRunRow(turn).owner.kind);
  return setup({
    types: { context: {} as RunContext, events: {} as RunEvent },
    guards: {
      isOther: ({ context, event }) =>
        event.type === "run.said" && (event.said.fence !== context.fence || event.runnerId !== context.runnerId),
      isStarted: ({ event }) => event.type === "run.said" && event.said.type === "run.started",
      isStep: ({ event }) => event.type === "run.said" && event.said.type === "run.step",
      isHandover: ({ event }) => event.type === "run.said" && event.said.type === "run.handover",
      isDelivered: ({ event }) => event.type === "run.said" && event.said.type === "run.heard",
      isPermission: ({ event }) => event.type === "run.said" && event.said.type === "run.permission",
      mayAnswer: ({ event }) => event.type === "approval.answer" && refuseAnswer(event, ownerOf(event.turn)) === null,
      maySend: ({ context, event }) =>
        event.type === "run.speak" && refuseMessage(event, context, ownerOf(event.turn)) === null,
      isEnd: ({ event }) => event.type === "run.said" && event.said.type === "run.ended",
      isLostHere: ({ context, event }) => event.type === "claim.lost" && event.runnerId === context.runnerId,
      isFence: ({ context, event }) => event.type === "job.undeliverable" && event.fence === context.fence,
      mayStart: ({ event }) => event.type === "gate.answered" && event.gate === STARTING && event.refused === null,
      mayNotStart: ({ event }) => event.type === "gate.answered" && event.gate === STARTING,
      isLate: ({ event }) => event.type === "woken" && event.turn.now - event.dueMs > LATE_MS,
      isStop: ({ context, event }) => event.type === "run.end" && event.outcome === "stopped" && context.assigned,
    },
    actions: {
      queue: ({ event }) => {
        if (event.type === "run.start") queueRun(event);
      },
      claim: assign(({ context, event }) =>
        event.type === "run.claim" ? claimRun(context, event, ownerOf(event.turn)) : context,
      ),
      assignRunner: assign(({ context, event }) => assignRunner(event.turn, context)),
      refuseStart: ({ context, event }) => {
        if (event.type === "gate.answered") {
          endRun(event.turn, context, { outcome: "withdrawn", reason: event.refused ?? "" }, ownerOf(event.turn));
        }
      },
      begin: ({ event }) => beginRun(event.turn),
      recordStep: ({ context, event }) => {
        if (event.type === "run.said" && event.said.type === "run.step")
          recordStep(event.turn, context, event.said.step);
      },
      sendMessage: assign(({ context, event }) => (event.type === "run.speak" ? sendMessage(event, context) : context)),
      refuseMessage: ({ context, event }) => {
        if (event.type === "run.speak") event.turn.reply(refuseMessage(event, context, ownerOf(event.turn)));
      },
      askPermission: ({ context, event }) => {
        if (event.type === "run.said" && event.said.type === "run.permission") {
          askPermission(event.turn, context, event.said, ownerOf(event.turn));
        }
      },
      answerApproval: ({ context, event }) => {
        if (event.type === "approval.answer") answerApproval(event, context);
      },
      refuseAnswer: ({ event }) => {
        if (event.type === "approval.answer") event.turn.reply(refuseAnswer(event, ownerOf(event.turn)));
      },
      closeApprovalsOnStop: ({ event }) => closeApprovalsOnStop(event.turn),
      recordDelivered: ({ context, event }) => {
        if (event.type === "run.said" && event.said.type === "run.heard")
          recordDelivered(event.turn, context, event.said.n);
      },
      askHandover: assign(({ context, event }) =>
        event.type === "run.said" && event.said.type === "run.handover"
          ? askHandover(event.turn, context, event.said, ownerOf(event.turn))
          : context,
      ),
      answerHandover: assign(({ context, event }) =>
        event.type === "gate.answered" ? answerHandover(event.turn, context, event) : context,
      ),
      endByReport: ({ context, event }) => {
        if (event.type === "run.said" && event.said.type === "run.ended")
          endByReport(event.turn, context, event.said, ownerOf(event.turn));
      },
      endUndeliverable: ({ context, event }) => {
        if (event.type === "job.undeliverable") endUndeliverable(event.turn, context, event, ownerOf(event.turn));
      },
      endLost: ({ context, event }) => endLost(event.turn, context, ownerOf(event.turn)),
      endUnanswered: ({ context, event }) => endUnanswered(event.turn, context, ownerOf(event.turn)),
      awaitStop: ({ event }) => awaitStop(event.turn),
      stop: assign(({ context, event }) =>
        event.type === "run.end" ? stopRun(event.turn, context, event.reason) : context,
      ),
      end: ({ context, event }) => {
        if (event.type === "run.end")
          endRun(event.turn, context, { outcome: event.outcome, reason: event.reason }, ownerOf(event.turn));
      },
      dropStale: ({ event }) => {
        if (event.type === "run.said") dropStale(event.turn, event);
      },
      releaseClaim: ({ event }) => {
        if (event.type === "run.claim") releaseClaim(event.turn, event.runnerId);
      },
    },
  }).createMachine({
    id: "run",
    context: begun,
    initial: "new",
    states: {
      new: { on: { "run.start": { target: "queued", actions: "queue" } } },
      queued: {
        on: {
          "run.speak": [{ guard: "maySend", actions: "sendMessage" }, { actions: "refuseMessage" }],
          "approval.answer": [{ guard: "mayAnswer", actions: "answerApproval" }, { actions: "refuseAnswer" }],
          "run.claim": { target: "claimed", actions: "claim" },
          "run.end": { target: "ended", actions: "end" },
          "run.said": { actions: "dropStale" },
        },
      },
      claimed: {
        on: {
          "run.speak": [{ guard: "maySend", actions: "sendMessage" }, { actions: "refuseMessage" }],
          "approval.answer": [{ guard: "mayAnswer", actions: "answerApproval" }, { actions: "refuseAnswer" }],
          "gate.answered": [
            { guard: "mayStart", actions: "assignRunner" },
            { guard: "mayNotStart", target: "ended", actions: "refuseStart" },
            { actions: "answerHandover" },
          ],
          "run.said": [
            { guard: "isOther", actions: "dropStale" },
            { guard: "isStarted", target: "running", actions: "begin" },
            { guard: "isStep", actions: "recordStep" },
            { guard: "isDelivered", actions: "recordDelivered" },
            { guard: "isPermission", actions: "askPermission" },
            { guard: "isHandover", actions: "askHandover" },
            { guard: "isEnd", target: "ended", actions: "endByReport" },
          ],
          "claim.lost": { guard: "isLostHere", target: "ended", actions: "endLost" },
          woken: [
            { guard: "isLate", actions: "awaitStop" },
            { target: "ended", actions: "endUnanswered" },
          ],
          "job.undeliverable": { guard: "isFence", target: "ended", actions: "endUndeliverable" },
          "run.end": [
            { guard: "isStop", actions: ["stop", "closeApprovalsOnStop"] },
            { target: "ended", actions: "end" },
          ],
        },
      },
      running: {
        on: {
          "run.speak": [{ guard: "maySend", actions: "sendMessage" }, { actions: "refuseMessage" }],
          "approval.answer": [{ guard: "mayAnswer", actions: "answerApproval" }, { actions: "refuseAnswer" }],
          "gate.answered": { actions: "answerHandover" },
          "run.said": [
            { guard: "isOther", actions: "dropStale" },
            { guard: "isStep", actions: "recordStep" },
            { guard: "isDelivered", actions: "recordDelivered" },
            { guard: "isPermission", actions: "askPermission" },
            { guard: "isHandover", actions: "askHandover" },
            { guard: "isEnd", target: "ended", actions: "endByReport" },
          ],
          "claim.lost": { guard: "isLostHere", target: "ended", actions: "endLost" },
          woken: [
            { guard: "isLate", actions: "awaitStop" },
            { target: "ended", actions: "endUnanswered" },
          ],
          "run.end": [
            { guard: "isStop", actions: ["stop", "closeApprovalsOnStop"] },
            { target: "ended", actions: "end" },
          ],
        },
      },
      ended: {
        on: {
          "run.speak": [{ guard: "maySend", actions: "sendMessage" }, { actions: "refuseMessage" }],
          "approval.answer": [{ guard: "mayAnswer", actions: "answerApproval" }, { actions: "refuseAnswer" }],
          "run.said": { actions: "dropStale" },
          "run.claim": { actions: "releaseClaim" },
        },
      },
    },
  });
}

/** See the table above; `owners` is the catalogue of who may want a run. */
export function runActor(owners: readonly RunOwner[]): ActorType {
  return {
    kind: "run",
    machine: createRunMachine(owners),
    version: 2,
    // Before version 2 nobody spoke to a run.
    migrate: ({ value, context }) => ({ value, context: Object.assign({}, begun, context) }),
  };
}
