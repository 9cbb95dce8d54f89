import type { AnyStateMachine } from "xstate";
import type { Reading } from "../storage/store.js";
import type { Address } from "./address.js";
import type { LaneLimits } from "./lane.js";
import type { Picture } from "./picture.js";
import type { RunSignal } from "./run-signal.js";
import type { Fact, GateQuestion, Message, Turn, TurnReading } from "./turn.js";

/**
 * A kind of actor: an XState machine stepped as a pure function, and how it is supervised.
 *
 * The machine is flat, has no `invoke`, `spawn`, `after`, `always` or `raise`, and its context is small plain data.
 * Its events are `Delivered<...>` messages: guards and `assign` read `event.turn`; only actions of a taken transition
 * may record intents through it (a guard never does). An actor that was never written starts from the machine's
 * initial state, with `context` made from `{ input: Address }`.
 */
export interface ActorType {
  readonly kind: string;
  readonly machine: AnyStateMachine;
  /**
   * Turns a message into the event that the machine takes, where the message's type alone does not decide the
   * transition. Called once a turn, before the step; may read and nothing else. Stored, deduplicated and set aside is
   * the message, never the event. A throw is a crash of the turn.
   */
  classify?(message: Message, state: StoredState, turn: TurnReading): Message;
  /** Rises when the shape of stored snapshots changes. */
  readonly version: number;
  /** Upgrades a snapshot of an older version. Required from version 2 on. */
  readonly migrate?: (snapshot: StoredState, fromVersion: number) => StoredState;
  readonly supervision?: Supervision;
  /** The pictures that its actors may keep in memory. */
  readonly pictures?: readonly Picture<unknown>[];
}

/** A machine's state between turns, as it is stored. */
export interface StoredState {
  readonly value: unknown;
  readonly context: unknown;
}

/** After Erlang's supervisor: how often an actor may crash, and what happens past that. */
export interface Supervision {
  /** How often one message may crash the actor before it is set aside as a dead letter. */
  readonly attempts: number;
  /** After more crashes than this within `withinMs` the actor is suspended for `backoffMs`; its messages wait. */
  readonly maxRestarts: number;
  readonly withinMs: number;
  readonly backoffMs: number;
}

/**
 * Handles facts, each in a turn of its own after the publisher's, in the publisher's partition. It has no state, and
 * may only read and send messages. A throw is handled as an actor's crash; the publisher is not affected.
 */
export interface Subscriber<Handled extends Fact = Fact> {
  /** Unique name, for logs and dead letters. */
  readonly name: string;
  /** Names of the facts it handles. */
  readonly facts: readonly Handled["name"][];
  /**
   * Whether it handles this one: asked in the publisher's turn, which sees what it has written itself, and fails by a
   * throw. A fact that it does not handle costs it no turn. Without this it handles every one.
   */
  hears?(fact: Handled, partition: string, reading: Reading): boolean;
  handle(fact: Handled, turn: Turn): void;
}

/**
 * Decides which actors must agree to a step. `gatekeepers` runs in the asker's turn and only reads. Each request it
 * returns is sent, and each actor asked answers with a {@link GatekeeperAnswer} to `gate.replyTo`. All must agree; the
 * first refusal decides. Without gatekeepers the step may be taken.
 */
export interface Gate<Question extends GateQuestion = GateQuestion> {
  readonly name: string;
  /** Names of the questions it decides about. */
  readonly questions: readonly Question["name"][];
  /** Time limit for all gatekeepers together, in milliseconds; those late are sent a {@link GatekeeperTimedOut}. */
  readonly boundMs: number;
  gatekeepers(question: Question, partition: string, reading: Reading): readonly GatekeeperRequest[];
}

export interface GatekeeperRequest {
  readonly to: Address;
  /** Sent with a {@link ReplyTo} added as `gate`, whose key the gatekeeper repeats in its {@link GatekeeperAnswer}. */
  readonly message: Message;
  /**
   * What it means when the gatekeeper does not answer even the {@link GatekeeperTimedOut}: the text of a refusal, or
   * null for agreement. When omitted, a refusal that names the gatekeeper.
   */
  readonly whenSilent?: string | null;
}

/** Where a gatekeeper sends its answer. */
export interface ReplyTo {
  readonly replyTo: Address;
  readonly key: string;
}

/** A gatekeeper's answer, sent to `gate.replyTo`. */
export interface GatekeeperAnswer extends Message {
  readonly type: "keeper.answered";
  /** The `gate.key` of the request. */
  readonly key: string;
  readonly refused: string | null;
}

/** Sent by a gatekeeper that finds further actors to ask; it still has to send its own answer. */
export interface CallGatekeepers extends Message {
  readonly type: "keeper.called";
  /** Its own `gate.key`. */
  readonly key: string;
  readonly requests: readonly GatekeeperRequest[];
}

/** Tells a gatekeeper that the time limit has passed: it must answer at once with what it knows. */
export interface GatekeeperTimedOut extends Message, ReplyTo {
  readonly type: "keeper.late";
}

/** What an effect is given beside its input. */
export interface EffectContext<Memo = unknown> {
  /** The idempotency id. */
  readonly id: string;
  /** The actor that started it. */
  readonly owner: Address;
  /** The request's `memo`; undefined when memory no longer holds it, as after a restart. */
  readonly memo: Memo;
  /**
   * Whether an earlier process may have begun it. After a kill it may also have waited for its turn or its place there,
   * unless the effect is one whose begin is marked.
   */
  readonly mayHaveBegun: boolean;
}

/** One run of an effect, ready to begin once it has its place. */
export interface PreparedRun<Output = unknown> {
  /** The place it needs; null for a run that does nothing outside the process. */
  readonly place: PlaceNeeded<Output> | null;
  /** Whether it is not made again after a stop: a service that ends by itself waits for it, but not for long. */
  readonly isMadeOnce?: boolean;
  /** Does the work. A rejection is reported as `{ ok: false, error: message }`, so its message must hold no secret. */
  begin(signal: RunSignal): Promise<Output>;
}

/** A place that a run needs in a lane. */
export interface PlaceNeeded<Output = unknown> {
  readonly lane: LaneLimits;
  /** Who the run is for; by default the partition of the actor that started it. */
  readonly party?: string;
  /** Where the request goes, as a host: runs of one party to one target share a bound. */
  readonly target: string;
  /** Approximate memory of the prepared run, in bytes. */
  readonly bytes: number;
  /** The latest time to wait until, and the result then; without it the run waits as long as it takes. */
  readonly patience?: { readonly untilMs: number; readonly output: Output };
}

/**
 * Work in the outside world, by name. Runs after the commit and again after a crash; reports only through its result.
 */
export interface Effect<Input = unknown, Output = unknown, Memo = unknown> {
  readonly name: string;
  /**
   * Whether a mark is on disk before a run with a place begins: `mayHaveBegun` is exact after a kill as well, at the price of
   * a flush. A process that is killed between the two counts as one that began the run.
   */
  readonly marksBegin?: boolean;
  /**
   * Prepares a run without starting it: it only reads, and is short. It is called again when the prepared run waited too
   * long for its place, or was dropped to save memory.
   */
  prepare(input: Input, context: EffectContext<Memo>): PreparedRun<Output>;
}

/** Everything that a host runs: passed in, never imported. */
export interface Catalogue {
  readonly actors: readonly ActorType[];
  readonly subscribers: readonly Subscriber[];
  readonly gates: readonly Gate[];
  readonly effects: readonly Effect[];
}
