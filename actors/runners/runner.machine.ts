/**
 * A runner, `runner/<id>`: what it took and was sent, its lease, the claims it was given.
 *
 * | state     | moved by                          | next      | also                                                    |
 * |-----------|-----------------------------------|-----------|---------------------------------------------------------|
 * | absent    | runner.hello                      | connected | the dispatcher learns what it offers                    |
 * | absent    | tell with a claim                 | absent    | the run learns that the claim is lost                   |
 * | connected,| runner.hello, same instance       | connected | claims it does not hold any more are lost               |
 * | away      | runner.hello, another instance    | connected | every claim is lost: that process is gone               |
 * | connected | runner.said                       | connected | taken once, by its number                               |
 * | connected | runner.beat                       | connected | the lease begins anew                                   |
 * | connected | runner.left                       | away      | nothing new is placed there; the lease goes on          |
 * | either    | tell                              | same      | joins the outbox                                        |
 * | either    | claim.ended                       | same      | the claim is forgotten                                  |
 * | connected | runner.adrift                     | away      | the service was down: one more lease                    |
 * | away      | runner.adrift                     | away      | likewise                                                |
 * | either    | woken `lease`, late               | same      | likewise                                                |
 * | connected | woken `lease`                     | away      | every claim is lost; nothing is placed there until it   |
 * |           |                                   |           | says hello                                              |
 * | away      | woken `lease`                     | (ended)   | every claim is lost; the runner is forgotten            |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import { stateSource } from "../../runtime/directory-source.js";
import type { Delivered, Turn, Woken } from "../../runtime/turn.js";
import { dispatcherRef, type ForgetRunner, type OfferRunner } from "./dispatcher.messages.js";
import {
  type ClaimEnded,
  type ClaimLost,
  type RunnerBeat,
  type RunnerDisconnected,
  type RunnerHello,
  type RunnerLeft,
  type RunnerSaid,
  type RunSaid,
  runnerRef,
  runnerTopic,
  runRef,
  type SendToRunner,
  type Welcome,
} from "./runner.messages.js";
import { connectedRunnerEntry, outbox } from "./runner.table.js";

interface RunnerContext {
  readonly instance: string;
  readonly connection: string;
  readonly poolId: string;
  readonly leaseMs: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly harnesses: readonly string[];
  readonly slots: number;
  /** What it knows of the protocol's additions. */
  readonly features: readonly string[];
  readonly since: string;
  /** The last message taken. */
  readonly received: number;
  /** The last message put into the outbox. */
  readonly sent: number;
  /** Fences by run id. */
  readonly claims: Readonly<Record<string, number>>;
}

type RunnerEvent = Delivered<
  RunnerHello | RunnerSaid | RunnerBeat | RunnerLeft | RunnerDisconnected | SendToRunner | ClaimEnded | Woken
>;

/** A wake-up that comes later than this was due while the service was down, or as good as down. */
const LATE_MS = 250;

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

const machine = setup({
  types: { context: {} as RunnerContext, events: {} as RunnerEvent },
  guards: {
    isCurrent: ({ context, event }) => "connection" in event && event.connection === context.connection,
    isLate: ({ event }) => event.type === "woken" && event.turn.now - event.dueMs > LATE_MS,
  },
  actions: {
    greet: assign(({ context, event }) => (event.type === "runner.hello" ? greet(context, event) : context)),
    take: assign(({ context, event }) => (event.type === "runner.said" ? take(context, event) : context)),
    beat: assign(({ context, event }) => {
      if (event.type !== "runner.beat") return context;
      acknowledge(event.turn, event.ack);
      event.turn.wake("lease", event.turn.now + context.leaseMs);
      return context;
    }),
    leave: ({ context, event }) => {
      event.turn.undirect(connectedRunnerEntry(event.turn.self.partition, event.turn.self.id));
      offer(context, event.turn, false);
    },
    sendToRunner: assign(({ context, event }) => (event.type === "tell" ? sendToRunner(context, event) : context)),
    refuseClaim: ({ event }) => {
      if (event.type === "tell" && event.message.type === "run.assign") loseClaim(event.turn, event.message.runId);
    },
    endClaim: assign(({ context, event }) =>
      event.type === "claim.ended" ? { ...context, claims: without(context.claims, [event.runId]) } : context,
    ),
    extend: ({ context, event }) => event.turn.wake("lease", event.turn.now + context.leaseMs),
    loseAll: assign(({ context, event }) => {
      for (const runId of Object.keys(context.claims)) loseClaim(event.turn, runId);
      return { ...context, claims: {} };
    }),
    forget: ({ event }) => {
      const message: ForgetRunner = { type: "runner.forget", runnerId: event.turn.self.id };
      event.turn.send(dispatcherRef(event.turn.self.partition), message);
      emptyOutbox(event.turn);
      event.turn.stop();
    },
  },
}).createMachine({
  id: "runner",
  context: nobody,
  initial: "absent",
  states: {
    absent: {
      on: {
        "runner.hello": { target: "connected", actions: "greet" },
        tell: { actions: "refuseClaim" },
      },
    },
    connected: {
      on: {
        "runner.hello": { actions: "greet" },
        "runner.said": { guard: "isCurrent", actions: "take" },
        "runner.beat": { guard: "isCurrent", actions: "beat" },
        "runner.left": { guard: "isCurrent", target: "away", actions: "leave" },
        "runner.adrift": { target: "away", actions: ["leave", "extend"] },
        tell: { actions: "sendToRunner" },
        "claim.ended": { actions: "endClaim" },
        woken: [
          { guard: "isLate", actions: "extend" },
          { target: "away", actions: ["loseAll", "leave", "extend"] },
        ],
      },
    },
    away: {
      on: {
        "runner.adrift": { actions: "extend" },
        "runner.hello": { target: "connected", actions: "greet" },
        tell: { actions: "sendToRunner" },
        "claim.ended": { actions: "endClaim" },
        woken: [{ guard: "isLate", actions: "extend" }, { actions: ["loseAll", "forget"] }],
      },
    },
  },
});

/** See the table above. */
export const runnerActor = defineActor(runnerRef, {
  machine,
  version: 2,
  // Before version 2 no runner named a feature.
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, nobody, context) }),
});

/** Runners that have a socket are found at the next start. */
export const connectedRunnerSource = stateSource("runner", ({ value }, { partition, id }) =>
  value === "connected" ? [connectedRunnerEntry(partition, id)] : [],
);

function greet(context: RunnerContext, event: Delivered<RunnerHello>): RunnerContext {
  const { turn, hello, connection, poolId, leaseMs } = event;
  const returns = context.instance === hello.instance;
  const held = new Map(hello.claims.map(({ runId, fence }) => [runId, fence]));
  acknowledge(turn, hello.received);
  const unsent = returns ? unsentClaims(turn) : new Set<string>();
  const lost = Object.keys(context.claims).filter(
    (runId) => !unsent.has(runId) && !(returns && held.get(runId) === context.claims[runId]),
  );
  for (const runId of lost) loseClaim(turn, runId);
  if (!returns) {
    emptyOutbox(turn);
  }
  const claims = without(context.claims, lost);
  const { instance, name, labels, harnesses, slots, features = [] } = hello;
  const since = new Date(turn.now).toISOString();
  const next: RunnerContext = {
    ...{ instance, name, labels, harnesses, slots, features, connection, poolId, leaseMs, since, claims },
    received: returns ? context.received : 0,
    // Numbers go on after what the runner took, so that it drops nothing as seen before.
    sent: returns ? Math.max(context.sent, hello.received) : hello.received,
  };
  offer(next, turn, true);
  turn.direct(connectedRunnerEntry(turn.self.partition, turn.self.id));
  turn.wake("lease", turn.now + leaseMs);
  const welcome: Welcome = {
    received: next.received,
    claims: hello.claims.map(({ runId, fence }) => ({
      runId,
      fence,
      verdict: claims[runId] === fence ? "keep" : "drop",
    })),
  };
  turn.publishChange(runnerTopic(turn.self.id), { connection });
  turn.reply(welcome);
  return next;
}

function take(context: RunnerContext, event: Delivered<RunnerSaid>): RunnerContext {
  const { turn, n, message } = event;
  acknowledge(turn, event.ack);
  turn.reply({ received: Math.max(n, context.received) });
  if (n <= context.received) return context;
  const next = { ...context, received: n };
  if (message.type === "offer") {
    const offered = { ...next, slots: message.slots };
    offer(offered, turn, true);
    return offered;
  }
  const said: RunSaid = { type: "run.said", runnerId: turn.self.id, said: message };
  turn.send(runRef(turn.self.partition, message.runId), said);
  return next;
}

function sendToRunner(context: RunnerContext, event: Delivered<SendToRunner>): RunnerContext {
  const { turn, message } = event;
  const sent = context.sent + 1;
  outbox.put(turn, turn.self.partition, [turn.self.id, sent], message);
  turn.publishChange(runnerTopic(turn.self.id), { n: sent });
  const claims =
    message.type === "run.assign"
      ? { ...context.claims, [message.runId]: message.fence }
      : message.type === "run.drop" && context.claims[message.runId] === message.fence
        ? without(context.claims, [message.runId])
        : context.claims;
  return { ...context, sent, claims };
}

function offer(context: RunnerContext, turn: Turn, connected: boolean): void {
  const { poolId, name, labels, harnesses, slots, features, since } = context;
  const runner = { runnerId: turn.self.id, poolId, name, labels, harnesses, slots, features, connected, since };
  const message: OfferRunner = { type: "runner.offer", runner };
  turn.send(dispatcherRef(turn.self.partition), message);
}

function loseClaim(turn: Turn, runId: string): void {
  const message: ClaimLost = { type: "claim.lost", runnerId: turn.self.id };
  turn.send(runRef(turn.self.partition, runId), message);
}

/** Takes what the runner has taken out of the outbox. */
function acknowledge(turn: Turn, upTo: number): void {
  const taken = outbox.entries(turn, turn.self.partition, [turn.self.id], { before: [turn.self.id, upTo + 1] });
  for (const { key } of taken) turn.remove(key);
}

function emptyOutbox(turn: Turn): void {
  for (const { key } of outbox.entries(turn, turn.self.partition, [turn.self.id])) turn.remove(key);
}

/** Runs whose assignment the runner has not taken yet: it cannot know of them. */
function unsentClaims(turn: Turn): Set<string> {
  const waiting = outbox.list(turn, turn.self.partition, [turn.self.id]);
  return new Set(waiting.flatMap((message) => (message.type === "run.assign" ? [message.runId] : [])));
}

function without(claims: Readonly<Record<string, number>>, runIds: readonly string[]): Record<string, number> {
  return Object.fromEntries(Object.entries(claims).filter(([runId]) => !runIds.includes(runId)));
}
