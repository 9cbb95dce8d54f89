/**
 * A runner, `runner/<id>`: what it took and was sent, its lease, the claims it was given. Messages are classified
 * before the step (`classify-runner.ts`): behind an event stands the message that it is made of, where it has another
 * name.
 *
 * | state     | moved by                          | next      | also                                                    |
 * |-----------|-----------------------------------|-----------|---------------------------------------------------------|
 * | absent    | runner.began (runner.hello)       | connected | the dispatcher learns what it offers                    |
 * | absent    | claim.given (tell)                | absent    | the run learns that the claim is lost                   |
 * | absent    | tell, claim.dropped (tell)        | absent    |                                                         |
 * | connected,| runner.returned (runner.hello)    | connected | claims it does not hold any more are lost               |
 * | away      | runner.began (runner.hello)       | connected | every claim is lost: that process is gone               |
 * | connected | slots.said (runner.said)          | connected | the dispatcher learns of it                             |
 * | connected | run.said (runner.said)            | connected | the run is told, once                                   |
 * | connected | said.before (runner.said)         | connected | acknowledged again                                      |
 * | connected | runner.beat                       | connected | the lease begins anew                                   |
 * | connected | runner.left                       | away      | nothing new is placed there; the lease goes on          |
 * | either    | tell                              | same      | joins the outbox                                        |
 * | either    | claim.given (tell)                | same      | likewise; the claim is known                            |
 * | either    | claim.dropped (tell)              | same      | likewise; the claim is forgotten                        |
 * | either    | claim.ended                       | same      | the claim is forgotten                                  |
 * | connected | runner.adrift                     | away      | the service was down: one more lease                    |
 * | away      | runner.adrift                     | away      | likewise                                                |
 * | either    | lease.late (woken `lease`)        | same      | likewise                                                |
 * | connected | lease.over (woken `lease`)        | away      | every claim is lost; nothing is placed there until it   |
 * |           |                                   |           | says hello                                              |
 * | away      | lease.over (woken `lease`)        | (ended)   | every claim is lost; the runner is forgotten            |
 *
 * What is said on a connection that another has taken the place of (connection.old) is refused.
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
  acknowledgeSaid,
  endClaim,
  extendLease,
  forget,
  giveClaim,
  leave,
  loseAll,
  loseClaim,
  sendToRunner,
  takeSaid,
  takeSlots,
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

/** What a runner takes, connected or away. */
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
    takeSlots: assign(({ context, event }) => {
      assertEvent(event, "slots.said");
      return takeSlots(event, context);
    }),
    takeSaid: assign(({ context, event }) => {
      assertEvent(event, "run.said");
      return takeSaid(event, context);
    }),
    acknowledgeAgain: ({ context, event }) => {
      assertEvent(event, "said.before");
      acknowledgeSaid(event.turn, { ack: event.ack, received: context.received });
    },
    acknowledge: ({ event }) => {
      assertEvent(event, "runner.beat");
      acknowledge(event.turn, event.ack);
    },
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
    leave: ({ context, event }) => leave(event.turn, context),
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
        "slots.said": { actions: "takeSlots" },
        "run.said": { actions: "takeSaid" },
        "said.before": { actions: "acknowledgeAgain" },
        "runner.beat": { actions: ["acknowledge", "extend"] },
        "runner.left": { target: "away", actions: "leave" },
        "runner.adrift": { target: "away", actions: ["leave", "extend"] },
        "lease.over": { target: "away", actions: ["loseAll", "leave", "extend"] },
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

/** Runners that have a socket are found at the next start. */
export const connectedRunnerSource = stateSource("runner", ({ value }, { partition, id }) =>
  value === "connected" ? [connectedRunnerEntry(partition, id)] : [],
);
