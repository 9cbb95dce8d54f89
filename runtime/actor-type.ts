import type { AnyStateMachine } from "xstate";
import type { Reading } from "../storage/store.js";
import type { Address } from "./address.js";
import type { Picture } from "./picture.js";
import type { RunSignal } from "./run-signal.js";
import type { Fact, GateQuestion, Message, Turn, TurnReading } from "./turn.js";

/**
 * A kind of actor: an XState machine stepped as a pure function, and how it is looked after.
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
   * Gives the event that the machine takes, where the type of a message does not tell where it leads: once for each
   * turn, before the step. It reads and does nothing else. What is stored, deduplicated and set aside is the message.
   * A throw is a crash of the turn.
   */
  classify?(message: Message, state: StoredState, turn: TurnReading): Message;
  /** Rises when the shape of stored snapshots changes. */
  readonly version: number;
  /** Brings a snapshot of an older version up to date. Required from version 2 on. */
  readonly migrate?: (snapshot: StoredState, fromVersion: number) => StoredState;
  readonly supervision?: Supervision;
  /** What its actors may hold in memory of rows. */
  readonly pictures?: readonly Picture<unknown>[];
}

/** What is kept of a machine between turns. */
export interface StoredState {
  readonly value: unknown;
  readonly context: unknown;
}

/** After Erlang's supervisor: how often an actor may crash, and what happens past that. */
export interface Supervision {
  /** How often one message may crash the actor before it is set aside as a dead letter. */
  readonly attempts: number;
  /** More crashes than this within `withinMs` and the actor rests for `restMs`, its mail kept. */
  readonly maxRestarts: number;
  readonly withinMs: number;
  readonly backoffMs: number;
}

/**
 * Hears facts in a turn of its own after the publisher's, in the publisher's partition. It has no state: it may read,
 * and send messages. A throw is handled as an actor's crash; the publisher never notices.
 */
export interface Subscriber<Heard extends Fact = Fact> {
  /** Unique name, for logs and dead letters. */
  readonly name: string;
  /** Names of the facts it hears. */
  readonly facts: readonly Heard["name"][];
  handle(fact: Heard, turn: Turn): void;
}

/**
 * Decides which actors must agree to a step. `keepers` runs in the asker's turn and only reads; each request it
 * returns is sent, and each actor asked answers with a {@link GatekeeperAnswer} to `request.replyTo`. All must agree;
 * the first refusal decides. No keeper means that the step may be taken.
 */
export interface Gate<Question extends GateQuestion = GateQuestion> {
  readonly name: string;
  /** Names of the gates it keeps. */
  readonly questions: readonly Question["name"][];
  /** Longest time for the keepers together, in milliseconds; past it each gets a {@link GatekeeperTimedOut}. */
  readonly boundMs: number;
  gatekeepers(question: Question, partition: string, reading: Reading): readonly GatekeeperRequest[];
}

export interface GatekeeperRequest {
  readonly to: Address;
  /** Sent with a {@link ReplyTo} added as `gate`, which the keeper gives back in its {@link GatekeeperAnswer}. */
  readonly message: Message;
  /**
   * What it means when the keeper does not answer although it was told that it is late: a refusal in these words, or
   * null for that it agrees. Left out, it is a refusal that names the keeper.
   */
  readonly whenSilent?: string | null;
}

/** Where a keeper answers. */
export interface ReplyTo {
  readonly replyTo: Address;
  readonly key: string;
}

/** What a keeper sends to `gate.replyTo`. */
export interface GatekeeperAnswer extends Message {
  readonly type: "keeper.answered";
  /** The `gate.key` of the request. */
  readonly key: string;
  readonly refused: string | null;
}

/** What a keeper sends that finds out whom else to ask; it answers for itself afterwards. */
export interface CallGatekeepers extends Message {
  readonly type: "keeper.called";
  /** Its own `gate.key`. */
  readonly key: string;
  readonly requests: readonly GatekeeperRequest[];
}

/** Tells a keeper that the time is over: it is to answer at once by what it knows. */
export interface GatekeeperTimedOut extends Message, ReplyTo {
  readonly type: "keeper.late";
}

/** What the run of an effect is told beside its input. */
export interface EffectContext<Memo = unknown> {
  /** The idempotency id. */
  readonly id: string;
  /** The actor that started it. */
  readonly owner: Address;
  /** As the request has it; undefined once it is no longer at hand, after a restart for one. */
  readonly memo: Memo;
  readonly signal: RunSignal;
}

/** The outside world, by name. Runs after the commit and again after a crash; reports by its result alone. */
export interface Effect<Input = unknown, Output = unknown, Memo = unknown> {
  readonly name: string;
  /** How many run at once; more wait their turn. */
  readonly concurrency: number;
  /**
   * Does the work. A rejection is reported as `{ ok: false, error: message }`, so the message holds nothing secret.
   */
  run(input: Input, context: EffectContext<Memo>): Promise<Output>;
}

/** All that a host runs: handed in, never imported. */
export interface Catalogue {
  readonly actors: readonly ActorType[];
  readonly subscribers: readonly Subscriber[];
  readonly gates: readonly Gate[];
  readonly effects: readonly Effect[];
}
