import type { Key } from "../storage/store.js";
import type { Address } from "./address.js";
import type { DirectedWriting } from "./directory.js";
import type { Picture } from "./picture.js";
import type { MessageTo, Reference } from "./reference.js";
import type { ChangeEntry, Topic } from "./topic.js";

/** A message: a type and plain serialisable data. Secrets never travel in one. */
export interface Message {
  readonly type: string;
}

declare const answer: unique symbol;

/** A message whose asker is answered with `Answer`. Known to the compiler alone. */
export interface Answered<Answer> extends Message {
  readonly [answer]?: () => Answer;
}

/** What the asker of a message is answered: nothing, unless its type says so. */
export type AnswerTo<M extends Message> = M extends Message
  ? typeof answer extends keyof M
    ? NonNullable<M[typeof answer]> extends () => infer Answer
      ? Answer
      : never
    : undefined
  : never;

/** What an address answers to its messages of a type: unknown where nothing is known of it. */
export type AnswerFrom<To extends Address, Type extends string> =
  To extends Reference<infer Messages> ? AnswerTo<Extract<Messages, { readonly type: Type }>> : unknown;

/**
 * Something that happened, heard after the commit by those whom the subscriptions name.
 * `name` is what hearers are registered under (`run.ended`).
 */
export interface Fact {
  readonly name: string;
}

/** A step that others may refuse. The answer comes back as a {@link GateAnswer} under the same `id`. */
export interface GateQuestion {
  /** The gate (`run.starting`). */
  readonly name: string;
  /** Unique for the asker; comes back in the answer. */
  readonly id: string;
}

/** Arrives at the asker exactly once for each {@link GateQuestion}. */
export interface GateAnswer extends Message {
  readonly type: "gate.answered";
  readonly gate: string;
  readonly id: string;
  /** Why the step may not be taken, or null when it may. */
  readonly refused: string | null;
}

/** Work in the outside world, started after the commit. Its result comes back as an {@link EffectEnded}. */
export interface EffectRequest {
  /** The registered effect. */
  readonly name: string;
  /** The idempotency id: the same on every start of the same pending effect. Unique for the actor. */
  readonly id: string;
  /** Plain serialisable data. */
  readonly input: unknown;
  /** What its run would otherwise read; handed to it while it is at hand in memory, never stored. */
  readonly memo?: unknown;
}

/** Arrives at the actor that started the effect exactly once, unless the effect was cancelled. */
export interface EffectEnded<Output = unknown> extends Message {
  readonly type: "effect.ended";
  readonly effect: string;
  readonly id: string;
  readonly result: { readonly ok: true; readonly output: Output } | { readonly ok: false; readonly error: string };
}

/** Arrives when a wake-up falls due. */
export interface Woken extends Message {
  readonly type: "woken";
  readonly name: string;
  /** The time it was set for, in milliseconds since the epoch. */
  readonly dueMs: number;
}

/**
 * What a machine is handed with each message: the time, ids and random numbers of this turn, reads that see every
 * earlier turn and this turn's own writes, and a recorder for intents. Recording is all that a call does: nothing is
 * sent, started or shown before the batch is on disk, and all of it vanishes if the turn throws.
 *
 * Rows are read and written in the actor's own partition, nowhere else; what leads to them from elsewhere is declared to
 * directories.
 */
export interface Turn extends DirectedWriting {
  /** Milliseconds since the epoch, one value for the whole turn. */
  readonly now: number;
  readonly self: Address;
  /** What the actor holds in memory of rows; it changes that itself when it writes them. See {@link Picture}. */
  picture<Held>(picture: Picture<Held>): Held;
  /** `<prefix>_<ULID>`, rising within a process. */
  newId(prefix: string): string;
  /** A number in [0, 1). */
  random(): number;
  /** `count` random bytes. Cryptographically strong outside simulation. */
  randomBytes(count: number): Uint8Array;
  /** Sends a message; exactly once, in order for one sender and one receiver. */
  send<To extends Address>(to: To, message: MessageTo<To>): void;
  /** Sets the wake-up `name` for `dueMs`; a wake-up of that name already set is replaced. Delivered as {@link Woken}. */
  wake(name: string, dueMs: number): void;
  /** Takes back the wake-up `name`; none set is fine. */
  cancelWake(name: string): void;
  /** Starts an effect after the commit. */
  start(effect: EffectRequest): void;
  /** Forgets a pending effect and aborts it if it runs; its result is not delivered. None pending is fine. */
  cancelEffect(id: string): void;
  /** Publishes a fact. */
  publish(fact: Fact): void;
  /** Asks the gate; the answer arrives as {@link GateAnswer}. */
  askGate(question: GateQuestion): void;
  /** Appends to the change feed of this partition something that happened. `data` is what readers of the topic get. */
  publishChange<Data>(topic: Topic<Data>, data: NoInfer<Data>): void;
  /**
   * Appends to the change feed what a row is now. Of the row under a key that is said once a turn: the entries of an
   * earlier call are taken back, and these stand where the last call was.
   */
  publishRow(key: Key, entries: readonly ChangeEntry[]): void;
  /**
   * Adds one to a figure of the process (`RuntimeStats.counters`), once the batch is on disk. A new process begins at 0.
   */
  count(counter: string): void;
  /**
   * Answers whoever asked, once the batch is on disk. Without a call, a message that the machine accepts is answered
   * `undefined`, and one that no transition takes is answered by a rejection ({@link NotAccepted}).
   */
  reply(answer: unknown): void;
  /** Ends the actor: its snapshot, wake-ups and pending effects are removed with this batch. */
  stop(): void;
}

/** What may be read in a turn before anything is done: rows as every earlier turn left them, and the time. */
export type TurnReading = Pick<Turn, "get" | "range" | "now" | "self">;

/** A message as a machine receives it: its own fields and the turn. */
export type Delivered<M extends Message> = M & { readonly turn: Turn };
