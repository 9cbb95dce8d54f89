/**
 * A runner, `runner/<id>`: the messages received from it and sent to it, its lease, and its claims. Messages are
 * classified before the step (`classify-runner.ts`). Where an event has another name than its message, the message
 * follows in brackets. "Either" is connected or away.
 *
 * | state     | moved by                          | next      | also                                                  |
 * |-----------|-----------------------------------|-----------|-------------------------------------------------------|
 * | absent    | runner.began (runner.hello)       | connected | the dispatcher gets its offer                         |
 * | absent    | claim.given (tell)                | absent    | the run is told that the claim is lost                |
 * | absent    | tell, claim.dropped (tell)        | absent    |                                                       |
 * | either    | runner.returned (runner.hello)    | connected | claims that it no longer holds are lost               |
 * | either    | runner.began (runner.hello)       | connected | a new process: every claim is lost                    |
 * | connected | slots.changed (runner.said)       | connected | the dispatcher gets its new offer                     |
 * | connected | run.said (runner.said)            | connected | forwarded to the run, once                            |
 * | connected | report.repeated (runner.said)     | connected | acknowledged again                                    |
 * | connected | runner.beat                       | connected | the lease is extended                                 |
 * | connected | runner.left                       | away      | gets no new runs; the lease goes on                   |
 * | either    | tell                              | same      | the message joins the outbox                          |
 * | either    | claim.given (tell)                | same      | the same; the claim is recorded                       |
 * | either    | claim.dropped (tell)              | same      | the same; the claim is removed                        |
 * | either    | claim.ended                       | same      | the claim is removed                                  |
 * | connected | runner.adrift                     | away      | the service was down: the lease is extended           |
 * | away      | runner.adrift                     | away      | the same                                              |
 * | either    | lease.late (woken `lease`)        | same      | the same                                              |
 * | connected | lease.over (woken `lease`)        | away      | every claim is lost; no new runs until it connects    |
 * | away      | lease.over (woken `lease`)        | (ended)   | every claim is lost; the runner is removed            |
 *
 * A message on a replaced connection (connection.old) is refused, and so is one that follows a message which was not taken
 * (report.early).
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import { stateSource } from "../../runtime/directory-source.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyRunner, type RunnerContext, type RunnerEvent } from "./classify-runner.js";
import { runnerRef } from "./runner.messages.js";
import { connectedRunnerEntry } from "./runner.table.js";
import {
  acknowledge,
  answerReport,
  changeSlots,
  disconnect,
  endClaim,
  extendLease,
  forget,
  forwardReport,
  giveClaim,
  loseAll,
  loseClaim,
  sendToRunner,
  welcome,
  welcomeBack,
} from "./runner.transitions.js";

const nobody: RunnerContext = {
  instance: "",
  connection: "",
  poolId: "",
  leaseMs: 0,
  name: "",
  labels: [],
  harnesses: [],
  slots: 0,
  features: [],
  since: "",
  received: 0,
  sent: 0,
  claims: {},
};

/** Transitions of a runner that is connected or away. */
const known = {
  "runner.returned": { target: "connected", actions: "welcomeBack" },
  "runner.began": { target: "connected", actions: "welcome" },
  tell: { actions: "send" },
  "claim.given": { actions: ["send", "giveClaim"] },
  "claim.dropped": { actions: ["send", "endClaim"] },
  "claim.ended": { actions: "endClaim" },
  "lease.late": { actions: "extend" },
} as const;

const machine = setup({
  types: { context: {} as RunnerContext, events: {} as Delivered<RunnerEvent> },
  actions: {
    welcome: assign(({ context, event }) => {
      assertEvent(event, "runner.began");
      return welcome(event, context);
    }),
    welcomeBack: assign(({ context, event }) => {
      assertEvent(event, "runner.returned");
      return welcomeBack(event, context);
    }),
    changeSlots: assign(({ context, event }) => {
      assertEvent(event, "slots.changed");
      return changeSlots(event, context);
    }),
    forwardReport: assign(({ context, event }) => {
      assertEvent(event, "run.said");
      return forwardReport(event, context);
    }),
    answerAgain: assign(({ context, event }) => {
      assertEvent(event, "report.repeated");
      return answerReport(event.turn, { ack: event.ack, received: context.received }, context);
    }),
    acknowledge: assign(({ context, event }) => {
      assertEvent(event, "runner.beat");
      return acknowledge(event.turn, event.ack, context);
    }),
    send: assign(({ context, event }) => {
      assertEvent(event, ["tell", "claim.given", "claim.dropped"]);
      return sendToRunner(event, context);
    }),
    giveClaim: assign(({ context, event }) => {
      assertEvent(event, "claim.given");
      return giveClaim(event, context);
    }),
    endClaim: assign(({ context, event }) => {
      assertEvent(event, ["claim.ended", "claim.dropped"]);
      return endClaim(event.runId, context);
    }),
    loseClaim: ({ event }) => {
      assertEvent(event, "claim.given");
      loseClaim(event.turn, event.message.runId);
    },
    disconnect: ({ context, event }) => disconnect(event.turn, context),
    extend: ({ context, event }) => extendLease(event.turn, context),
    loseAll: assign(({ context, event }) => loseAll(event.turn, context)),
    forget: ({ event }) => forget(event.turn),
    ignore: () => undefined,
  },
}).createMachine({
  id: "runner",
  context: nobody,
  initial: "absent",
  states: {
    absent: {
      on: {
        "runner.began": { target: "connected", actions: "welcome" },
        "claim.given": { actions: "loseClaim" },
        "claim.dropped": { actions: "ignore" },
        tell: { actions: "ignore" },
      },
    },
    connected: {
      on: {
        ...known,
        "slots.changed": { actions: "changeSlots" },
        "run.said": { actions: "forwardReport" },
        "report.repeated": { actions: "answerAgain" },
        "runner.beat": { actions: ["acknowledge", "extend"] },
        "runner.left": { target: "away", actions: "disconnect" },
        "runner.adrift": { target: "away", actions: ["disconnect", "extend"] },
        "lease.over": { target: "away", actions: ["loseAll", "disconnect", "extend"] },
      },
    },
    away: {
      on: {
        ...known,
        "runner.adrift": { actions: "extend" },
        "lease.over": { actions: ["loseAll", "forget"] },
      },
    },
  },
});

/** See the table above. */
export const runnerActor = defineActor(runnerRef, {
  ...{ machine, classify: classifyRunner },
  version: 2,
  // Before version 2 no runner named a feature.
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, nobody, context) }),
});

/** The directory entries of connected runners: their sockets are gone when the service starts again. */
export const connectedRunnerSource = stateSource("runner", ({ value }, { partition, id }) =>
  value === "connected" ? [connectedRunnerEntry(partition, id)] : [],
);
