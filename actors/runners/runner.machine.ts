/**
 * A runner, `runner/<id>`: its received and sent messages, its lease, and its claims. The actor classifies each message
 * before the step. If an event's name differs from the message's name, the message follows in brackets. "Either" means
 * connected or away.
 *
 * | state     | moved by                          | next      | also                                                  |
 * |-----------|-----------------------------------|-----------|-------------------------------------------------------|
 * | absent    | runner.began (runner.hello)       | connected | the dispatcher gets its offer                         |
 * | absent    | claim.given (tell)                | absent    | the run gets `claim.lost`                             |
 * | absent    | tell, claim.dropped (tell)        | absent    |                                                       |
 * | either    | runner.returned (runner.hello)    | connected | claims that it no longer holds are lost               |
 * | either    | runner.began (runner.hello)       | connected | a new process: every claim is lost                    |
 * | connected | slots.changed (runner.said)       | connected | the dispatcher gets its new offer                     |
 * | connected | run.said (runner.said)            | connected | forwarded to the run, once                            |
 * | connected | report.repeated (runner.said)     | connected | acknowledged again                                    |
 * | connected | runner.beat                       | connected | the lease is extended                                 |
 * | connected | runner.left                       | away      | gets no new runs; the lease continues                 |
 * | either    | tell                              | same      | the message joins the outbox                          |
 * | either    | claim.given (tell)                | same      | joins the outbox; the claim is recorded               |
 * | either    | claim.dropped (tell)              | same      | joins the outbox; the claim is removed                |
 * | either    | claim.ended                       | same      | the claim is removed                                  |
 * | connected | runner.adrift                     | away      | the service was down: the lease is extended           |
 * | away      | runner.adrift                     | away      | the service was down: the lease is extended           |
 * | either    | lease.late (woken `lease`)        | same      | the service was down: the lease is extended           |
 * | connected | lease.over (woken `lease`)        | away      | every claim is lost; no new runs until it connects    |
 * | away      | lease.over (woken `lease`)        | (ended)   | every claim is lost; the runner is removed            |
 *
 * The actor refuses a message on a replaced connection (connection.old). It also refuses a message if the message
 * before it is missing (report.early).
 */
import { createChart, type InTurn, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { MessageTo } from "../../runtime/cells/reference.js";
import { stateSource } from "../../runtime/directories/directory-source.js";
import type { TurnReading, Woken } from "../../runtime/turns/turn.js";
import { type RunnerHello, type RunnerReported, runnerRef, type SendToRunner } from "./runner.messages.js";
import { connectedRunnerEntry, outbox } from "./runner.table.js";
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
  type RunnerContext,
  sendToRunner,
  welcome,
  welcomeBack,
} from "./runner.transitions.js";

/**
 * A wake-up is late when it arrives more than this many milliseconds after its due time: the service was down or
 * blocked.
 */
const LATE_MS = 250;

/** Classifies each message to a runner as an event of its machine. Reads only. */
function classify(
  message: MessageTo<ReturnType<typeof runnerRef>> | Woken,
  { context }: { readonly context: RunnerContext },
  turn: TurnReading,
) {
  switch (message.type) {
    case "runner.hello":
      return classifyHello(message, context, turn);
    case "runner.said":
      return message.connection === context.connection ? classifyReport(message, context) : toEvent("connection.old");
    case "runner.beat":
    case "runner.left":
      return message.connection === context.connection ? message : toEvent("connection.old");
    case "tell":
      return classifySending(message, context);
    case "woken":
      return toEvent(turn.now - message.dueMs > LATE_MS ? "lease.late" : "lease.over");
    // This case also covers messages of unknown types, which no transition handles.
    default:
      return message;
  }
}

/**
 * Classifies a hello. A new process has lost every claim. If the process is the same, it has lost the claims that it
 * received but does not list in the hello.
 */
function classifyHello(message: RunnerHello, { instance, claims }: RunnerContext, turn: TurnReading) {
  const { hello } = message;
  const runIds = Object.keys(claims);
  if (instance !== hello.instance) return toEvent("runner.began", { ...message, lost: runIds });
  const claimed = new Map(hello.claims.map(({ runId, fence }) => [runId, fence]));
  const unsent = unsentClaims(turn, hello.received);
  const lost = runIds.filter((runId) => !unsent.has(runId) && claimed.get(runId) !== claims[runId]);
  return toEvent("runner.returned", { ...message, lost });
}

/** Returns the runs whose assignments the runner has not received. Its hello cannot list these runs. */
function unsentClaims(turn: TurnReading, received: number): Set<string> {
  const waiting = outbox.list(turn, turn.self.partition, [turn.self.id], { after: [turn.self.id, received] });
  return new Set(waiting.flatMap((message) => (message.type === "run.assign" ? [message.runId] : [])));
}

function classifyReport(report: RunnerReported, { received }: RunnerContext) {
  const { n, follows = 0, message } = report;
  if (follows > received) return toEvent("report.early");
  if (n <= received) return toEvent("report.repeated", report);
  return message.type === "offer"
    ? toEvent("slots.changed", { ...report, slots: message.slots })
    : toEvent("run.said", { ...report, said: message });
}

function classifySending(sending: SendToRunner, { claims }: RunnerContext) {
  const { message } = sending;
  if (message.type === "run.assign") return toEvent("claim.given", { message });
  const isDropped = message.type === "run.drop" && claims[message.runId] === message.fence;
  return isDropped ? toEvent("claim.dropped", { message, runId: message.runId }) : sending;
}

const { on, machine } = createChart<RunnerContext, ReturnType<typeof classify>>();

const setAway = ({ turn }: InTurn, context: RunnerContext) => disconnect(turn, context);
const extend = ({ turn }: InTurn, context: RunnerContext) => extendLease(turn, context);
const loseEach = ({ turn }: InTurn, context: RunnerContext) => loseAll(turn, context);

/** Transitions of a runner that is connected or away. */
const known = {
  ...on("runner.returned", "connected", welcomeBack),
  ...on("runner.began", "connected", welcome),
  ...on("tell", sendToRunner),
  ...on("claim.given", sendToRunner, giveClaim),
  ...on("claim.dropped", sendToRunner, ({ runId }, context) => endClaim(runId, context)),
  ...on("claim.ended", ({ runId }, context) => endClaim(runId, context)),
  ...on("lease.late", extend),
};

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

const runnerMachine = machine({
  id: "runner",
  context: nobody,
  initial: "absent",
  states: {
    absent: {
      on: {
        ...on("runner.began", "connected", welcome),
        ...on("claim.given", ({ turn, message }) => loseClaim(turn, message.runId)),
        ...on("claim.dropped"),
        ...on("tell"),
      },
    },
    connected: {
      on: {
        ...known,
        ...on("slots.changed", changeSlots),
        ...on("run.said", forwardReport),
        ...on("report.repeated", ({ turn, ack }, context) =>
          answerReport(turn, { ack, received: context.received }, context),
        ),
        ...on("runner.beat", ({ turn, ack }, context) => acknowledge(turn, ack, context), extend),
        ...on("runner.left", "away", setAway),
        ...on("runner.adrift", "away", setAway, extend),
        ...on("lease.over", "away", loseEach, setAway, extend),
      },
    },
    away: {
      on: {
        ...known,
        ...on("runner.adrift", extend),
        ...on("lease.over", loseEach, ({ turn }) => forget(turn)),
      },
    },
  },
});

/** The actor of the machine above. */
export const runnerActor = defineActor(runnerRef, {
  machine: runnerMachine,
  classify,
  version: 2,
  // Version 2 added the runner's features.
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, nobody, context) }),
});

/**
 * The directory entries of connected runners. At its next start, the service uses them to mark those runners as
 * disconnected.
 */
export const connectedRunnerSource = stateSource("runner", ({ value }, { partition, id }) =>
  value === "connected" ? [connectedRunnerEntry(partition, id)] : [],
);
