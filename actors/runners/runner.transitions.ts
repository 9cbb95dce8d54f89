import type { EventWith } from "../../runtime/cells/chart.js";
import type { AnswerTo, Turn } from "../../runtime/turns/turn.js";
import { dispatcherRef, type ForgetRunner, type OfferRunner } from "./dispatcher.messages.js";
import {
  type ClaimLost,
  type RunnerHello,
  type RunnerReported,
  type RunReported,
  runnerTopic,
  runRef,
  type SendToRunner,
  type Welcome,
} from "./runner.messages.js";
import { connectedRunnerEntry, outbox } from "./runner.table.js";
import { reportRunner } from "./runner-report.js";

/** The transition functions of a runner. `runner.machine.ts` defines when they apply. */

/** The stored state of a runner between turns. */
export interface RunnerContext {
  readonly instance: string;
  readonly connection: string;
  readonly poolId: string;
  readonly leaseMs: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly harnesses: readonly string[];
  readonly slots: number;
  /** The optional protocol features that the runner supports. */
  readonly features: readonly string[];
  readonly since: string;
  /** Number of the last message received from the runner. */
  readonly received: number;
  /** Number of the last message put into the outbox. */
  readonly sent: number;
  /** Number of the last message removed from the outbox; absent if unknown in a state of an earlier release. */
  readonly acknowledged?: number;
  /** Fences by run id. */
  readonly claims: Readonly<Record<string, number>>;
}

/** The hello of a process that connects. `lost` lists the runs whose claims the process no longer holds. */
type Greeting = EventWith<RunnerHello, { readonly lost: readonly string[] }>;

/** Handles the reconnect of a process that was connected before. Its runs continue. */
export function welcomeBack(event: Greeting, context: RunnerContext): RunnerContext {
  const { received } = event.hello;
  const next = acknowledge(event.turn, received, context);
  // Numbers continue after the last message that the runner received. Otherwise the runner would treat new messages as
  // repetitions.
  const greeted = greet(event, received > next.sent ? { ...next, sent: received, acknowledged: received } : next);
  reportRunner(event.turn, "returned", greeted);
  return greeted;
}

/** Handles the connection of a new process. Messages for the earlier process are dropped. */
export function welcome(event: Greeting, context: RunnerContext): RunnerContext {
  emptyOutbox(event.turn);
  const { received: sent } = event.hello;
  const greeted = greet(event, { ...context, received: 0, sent, acknowledged: sent });
  reportRunner(event.turn, "joined", greeted);
  return greeted;
}

function greet(event: Greeting, context: RunnerContext): RunnerContext {
  const { turn, hello, connection, poolId, leaseMs, lost } = event;
  for (const runId of lost) loseClaim(turn, runId);
  const claims = without(context.claims, lost);
  const { instance, name, labels, harnesses, slots, features = [] } = hello;
  const since = new Date(turn.now).toISOString();
  const next: RunnerContext = {
    ...context,
    instance,
    name,
    labels,
    harnesses,
    slots,
    features,
    connection,
    poolId,
    leaseMs,
    since,
    claims,
  };
  offer(turn, next, true);
  turn.direct(connectedRunnerEntry(turn.self.partition, turn.self.id));
  extendLease(turn, next);
  const verdictOn = (runId: string, fence: number) => (claims[runId] === fence ? "keep" : "drop");
  const answer: Welcome = {
    received: next.received,
    claims: hello.claims.map(({ runId, fence }) => ({ runId, fence, verdict: verdictOn(runId, fence) })),
  };
  turn.publishChange(runnerTopic(turn.self.id), { connection });
  turn.reply(answer);
  return next;
}

/** Records that the runner has lost its socket, so that the runner gets no new runs. */
export function disconnect(turn: Turn, context: RunnerContext): void {
  turn.undirect(connectedRunnerEntry(turn.self.partition, turn.self.id));
  offer(turn, context, false);
  reportRunner(turn, "disconnected", context);
}

export function extendLease(turn: Turn, { leaseMs }: Pick<RunnerContext, "leaseMs">): void {
  turn.wake("lease", turn.now + leaseMs);
}

/**
 * Answers with the number of the last message received from the runner. Removes the messages that the runner has
 * received from the outbox.
 */
export function answerReport(
  turn: Turn<AnswerTo<RunnerReported>>,
  { ack, received }: { readonly ack: number; readonly received: number },
  context: RunnerContext,
): RunnerContext {
  turn.reply({ received });
  return acknowledge(turn, ack, context);
}

export function changeSlots(
  event: EventWith<RunnerReported, { readonly slots: number }>,
  context: RunnerContext,
): RunnerContext {
  const { turn, n, ack, slots } = event;
  const next = { ...answerReport(turn, { ack, received: n }, context), received: n, slots };
  offer(turn, next, true);
  return next;
}

/** Forwards the runner's message to the run. */
export function forwardReport(
  event: EventWith<RunnerReported, { readonly said: RunReported["said"] }>,
  context: RunnerContext,
): RunnerContext {
  const { turn, n, ack, said } = event;
  const message: RunReported = { type: "run.said", runnerId: turn.self.id, said };
  turn.send(runRef(turn.self.partition, said.runId), message);
  return { ...answerReport(turn, { ack, received: n }, context), received: n };
}

/** Puts a message into the outbox. The edge sends it from there. */
export function sendToRunner({ turn, message }: EventWith<SendToRunner>, context: RunnerContext): RunnerContext {
  const sent = context.sent + 1;
  outbox.put(turn, turn.self.partition, [turn.self.id, sent], message);
  turn.publishChange(runnerTopic(turn.self.id), { n: sent });
  return { ...context, sent };
}

export function giveClaim({ message }: EventWith<SendToRunner>, context: RunnerContext): RunnerContext {
  return { ...context, claims: { ...context.claims, [message.runId]: message.fence } };
}

export function endClaim(runId: string, context: RunnerContext): RunnerContext {
  return { ...context, claims: without(context.claims, [runId]) };
}

export function loseClaim(turn: Turn, runId: string): void {
  const message: ClaimLost = { type: "claim.lost", runnerId: turn.self.id };
  turn.send(runRef(turn.self.partition, runId), message);
}

export function loseAll(turn: Turn, context: RunnerContext): RunnerContext {
  reportRunner(turn, "lost", context);
  for (const runId of Object.keys(context.claims)) loseClaim(turn, runId);
  return { ...context, claims: {} };
}

export function forget(turn: Turn): void {
  const message: ForgetRunner = { type: "runner.forget", runnerId: turn.self.id };
  turn.send(dispatcherRef(turn.self.partition), message);
  emptyOutbox(turn);
  turn.stop();
}

/** Removes messages from the outbox up to the number that the runner has received. */
export function acknowledge(turn: Turn, ack: number, context: RunnerContext): RunnerContext {
  const { sent, acknowledged } = context;
  const upTo = Math.min(ack, sent);
  if (acknowledged !== undefined && upTo <= acknowledged) return context;
  // Numbers have no gaps, so rows can be removed by number without reading them.
  if (acknowledged === undefined) removeUpTo(turn, upTo);
  else for (let n = acknowledged + 1; n <= upTo; n++) outbox.remove(turn, turn.self.partition, turn.self.id, n);
  return { ...context, acknowledged: upTo };
}

function removeUpTo(turn: Turn, upTo: number): void {
  const taken = outbox.entries(turn, turn.self.partition, [turn.self.id], { before: [turn.self.id, upTo + 1] });
  for (const { key } of taken) turn.remove(key);
}

function offer(turn: Turn, context: RunnerContext, connected: boolean): void {
  const { poolId, name, labels, harnesses, slots, features, since } = context;
  const runner = { runnerId: turn.self.id, poolId, name, labels, harnesses, slots, features, connected, since };
  const message: OfferRunner = { type: "runner.offer", runner };
  turn.send(dispatcherRef(turn.self.partition), message);
}

function emptyOutbox(turn: Turn): void {
  for (const { key } of outbox.entries(turn, turn.self.partition, [turn.self.id])) turn.remove(key);
}

function without(claims: Readonly<Record<string, number>>, runIds: readonly string[]): Record<string, number> {
  return Object.fromEntries(Object.entries(claims).filter(([runId]) => !runIds.includes(runId)));
}
