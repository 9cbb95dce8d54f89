import type { Answered, AnswerTo, Message, TurnReading, Woken } from "../../runtime/turn.js";
import type {
  ClaimEnded,
  RunnerBeat,
  RunnerDisconnected,
  RunnerHello,
  RunnerLeft,
  RunnerReported,
  RunReported,
  SendToRunner,
} from "./runner.messages.js";
import { outbox } from "./runner.table.js";

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
  /** The optional features of the protocol that it supports. */
  readonly features: readonly string[];
  readonly since: string;
  /** Number of the last message received from it. */
  readonly received: number;
  /** Number of the last message put into its outbox. */
  readonly sent: number;
  /** Number of the last one removed from there; absent as long as a state of an earlier release does not say it. */
  readonly acknowledged?: number;
  /** Fences by run id. */
  readonly claims: Readonly<Record<string, number>>;
}

export type RunnerActorMessage =
  | RunnerHello
  | RunnerReported
  | RunnerBeat
  | RunnerLeft
  | RunnerDisconnected
  | SendToRunner
  | ClaimEnded
  | Woken;

/** An event without fields. */
interface Plain<Type extends string> extends Message {
  readonly type: Type;
}

/** A process connects. `lost` are the runs whose claims it does not hold. */
export interface Greeting<Type extends string = string> extends Omit<RunnerHello, "type"> {
  readonly type: Type;
  readonly lost: readonly string[];
}

/** The runner's message number `n`; the runner has received the outbox up to `ack`. */
interface Numbered<Type extends string> extends Answered<AnswerTo<RunnerReported>> {
  readonly type: Type;
  readonly n: number;
  readonly ack: number;
}

/** The runner changes how many runs it takes at once. */
export interface SlotsChanged extends Numbered<"slots.changed"> {
  readonly slots: number;
}

/** The runner's message about a run. */
export interface RunReport extends Numbered<"run.said"> {
  readonly said: RunReported["said"];
}

/** A message for the runner, classified by its effect on the runner's claims. */
export interface Sending<Type extends string = string> extends Omit<SendToRunner, "type"> {
  readonly type: Type;
}

/** Tells the runner to drop a claim that it holds. */
interface ClaimDropped extends Sending<"claim.dropped"> {
  readonly runId: string;
}

/** A classified message, with what was read to classify it. */
export type RunnerEvent =
  /** The same process connects again. */
  | Greeting<"runner.returned">
  | Greeting<"runner.began">
  | SlotsChanged
  | RunReport
  /** Received before. */
  | Numbered<"report.repeated">
  | RunnerBeat
  | RunnerLeft
  /** On a connection that a newer one has replaced. */
  | Plain<"connection.old">
  /** The message before it was not taken. */
  | Plain<"report.early">
  | RunnerDisconnected
  | Sending<"claim.given">
  | ClaimDropped
  | SendToRunner
  | ClaimEnded
  | Plain<"lease.over">
  /** The lease ended while the service was down, or about to stop. */
  | Plain<"lease.late">;

/** A wake-up this late, in milliseconds, was due while the service was down or blocked. */
const LATE_MS = 250;

/** Classifies each message to a runner as an event of its machine. Reads only. */
export function classifyRunner(
  message: RunnerActorMessage,
  { context }: { readonly context: RunnerContext },
  turn: TurnReading,
): RunnerEvent {
  switch (message.type) {
    case "runner.hello":
      return classifyHello(message, context, turn);
    case "runner.said":
      return message.connection === context.connection ? classifyReport(message, context) : { type: "connection.old" };
    case "runner.beat":
    case "runner.left":
      return message.connection === context.connection ? message : { type: "connection.old" };
    case "tell":
      return classifySending(message, context);
    case "woken":
      return { type: turn.now - message.dueMs > LATE_MS ? "lease.late" : "lease.over" };
    // Also messages of unknown types, which no transition takes.
    default:
      return message;
  }
}

/** A new process has lost every claim; the same one has lost those that it was sent and does not name. */
function classifyHello(message: RunnerHello, { instance, claims }: RunnerContext, turn: TurnReading): RunnerEvent {
  const { hello } = message;
  const runIds = Object.keys(claims);
  if (instance !== hello.instance) return { ...message, type: "runner.began", lost: runIds };
  const held = new Map(hello.claims.map(({ runId, fence }) => [runId, fence]));
  const unsent = unsentClaims(turn, hello.received);
  const lost = runIds.filter((runId) => !unsent.has(runId) && held.get(runId) !== claims[runId]);
  return { ...message, type: "runner.returned", lost };
}

/** Runs whose assignments are in the outbox but not received by the runner, which cannot name them. */
function unsentClaims(turn: TurnReading, received: number): Set<string> {
  const waiting = outbox.list(turn, turn.self.partition, [turn.self.id], { after: [turn.self.id, received] });
  return new Set(waiting.flatMap((message) => (message.type === "run.assign" ? [message.runId] : [])));
}

function classifyReport({ n, ack, follows = 0, message }: RunnerReported, { received }: RunnerContext): RunnerEvent {
  if (follows > received) return { type: "report.early" };
  if (n <= received) return { type: "report.repeated", n, ack };
  return message.type === "offer"
    ? { type: "slots.changed", n, ack, slots: message.slots }
    : { type: "run.said", n, ack, said: message };
}

function classifySending({ type, message }: SendToRunner, { claims }: RunnerContext): RunnerEvent {
  if (message.type === "run.assign") return { type: "claim.given", message };
  const isDropped = message.type === "run.drop" && claims[message.runId] === message.fence;
  return isDropped ? { type: "claim.dropped", message, runId: message.runId } : { type, message };
}
