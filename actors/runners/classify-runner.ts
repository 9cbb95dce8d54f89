import type { Message, TurnReading, Woken } from "../../runtime/turn.js";
import type {
  ClaimEnded,
  RunnerBeat,
  RunnerDisconnected,
  RunnerHello,
  RunnerLeft,
  RunnerSaid,
  RunSaid,
  SendToRunner,
} from "./runner.messages.js";
import { outbox } from "./runner.table.js";

/** What is kept of a runner between turns. */
export interface RunnerContext {
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

export type RunnerActorMessage =
  | RunnerHello
  | RunnerSaid
  | RunnerBeat
  | RunnerLeft
  | RunnerDisconnected
  | SendToRunner
  | ClaimEnded
  | Woken;

/** A message without a field that matters to where it leads. */
interface Plain<Type extends string> extends Message {
  readonly type: Type;
}

/** A process says hello. `lost` are the runs whose claims it does not hold. */
export interface Greeting<Type extends string = string> extends Omit<RunnerHello, "type"> {
  readonly type: Type;
  readonly lost: readonly string[];
}

/** The runner said its message `n`, and has taken what it was sent up to `ack`. */
interface Numbered<Type extends string> extends Message {
  readonly type: Type;
  readonly n: number;
  readonly ack: number;
}

/** How many runs it takes at once from now on. */
export interface SlotsSaid extends Numbered<"slots.said"> {
  readonly slots: number;
}

/** Something about a run. */
export interface SaidOfRun extends Numbered<"run.said"> {
  readonly said: RunSaid["said"];
}

/** Something to send, by what it means for the runner's claims. */
export interface Sending<Type extends string = string> extends Omit<SendToRunner, "type"> {
  readonly type: Type;
}

/** The runner is told that a claim which it holds is no more. */
interface ClaimDropped extends Sending<"claim.dropped"> {
  readonly runId: string;
}

/** A message by where it leads. */
export type RunnerEvent =
  /** The process that was there before. */
  | Greeting<"runner.returned">
  | Greeting<"runner.began">
  | SlotsSaid
  | SaidOfRun
  /** It was taken already. */
  | Numbered<"said.before">
  | RunnerBeat
  | RunnerLeft
  /** Said on a connection that another has taken the place of. */
  | Plain<"connection.old">
  | RunnerDisconnected
  | Sending<"claim.given">
  | ClaimDropped
  | SendToRunner
  | ClaimEnded
  | Plain<"lease.over">
  /** It was over while the service was down, or as good as down. */
  | Plain<"lease.late">;

/** A wake-up that comes later than this was due while the service was down, in milliseconds. */
const LATE_MS = 250;

/** Gives the event of each message to a runner's actor. It reads and does nothing else. */
export function classifyRunner(
  message: RunnerActorMessage,
  { context }: { readonly context: RunnerContext },
  turn: TurnReading,
): RunnerEvent {
  switch (message.type) {
    case "runner.hello":
      return toGreeting(message, context, turn);
    case "runner.said":
      return message.connection === context.connection ? toSaid(message, context) : { type: "connection.old" };
    case "runner.beat":
    case "runner.left":
      return message.connection === context.connection ? message : { type: "connection.old" };
    case "tell":
      return toSending(message, context);
    case "woken":
      return { type: turn.now - message.dueMs > LATE_MS ? "lease.late" : "lease.over" };
    // Also what it does not know, which no transition takes.
    default:
      return message;
  }
}

/** Another process lost every claim of the one before; the same one those that it does not name and knows of. */
function toGreeting(message: RunnerHello, { instance, claims }: RunnerContext, turn: TurnReading): RunnerEvent {
  const { hello } = message;
  const runIds = Object.keys(claims);
  if (instance !== hello.instance) return { ...message, type: "runner.began", lost: runIds };
  const held = new Map(hello.claims.map(({ runId, fence }) => [runId, fence]));
  const unsent = unsentClaims(turn, hello.received);
  const lost = runIds.filter((runId) => !unsent.has(runId) && held.get(runId) !== claims[runId]);
  return { ...message, type: "runner.returned", lost };
}

/** Runs whose assignment lies in the outbox beyond what the runner has taken: it cannot know of them. */
function unsentClaims(turn: TurnReading, received: number): Set<string> {
  const waiting = outbox.list(turn, turn.self.partition, [turn.self.id], { after: [turn.self.id, received] });
  return new Set(waiting.flatMap((message) => (message.type === "run.assign" ? [message.runId] : [])));
}

function toSaid({ n, ack, message }: RunnerSaid, { received }: RunnerContext): RunnerEvent {
  if (n <= received) return { type: "said.before", n, ack };
  return message.type === "offer"
    ? { type: "slots.said", n, ack, slots: message.slots }
    : { type: "run.said", n, ack, said: message };
}

function toSending({ type, message }: SendToRunner, { claims }: RunnerContext): RunnerEvent {
  if (message.type === "run.assign") return { type: "claim.given", message };
  const isDropped = message.type === "run.drop" && claims[message.runId] === message.fence;
  return isDropped ? { type: "claim.dropped", message, runId: message.runId } : { type, message };
}
