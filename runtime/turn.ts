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

/** A message whose asker gets an `Answer`. Only the compiler knows the type. */
export interface Answered<Answer> extends Message {
  readonly [answer]?: () => Answer;
}

/** The answer to a message: `undefined`, unless the message is {@link Answered}. */
export type AnswerTo<M extends Message> = M extends Message
  ? typeof answer extends keyof M
    ? Replies<M>
    : undefined
  : never;

/** What a machine may reply to a message: nothing, unless the message is {@link Answered}. */
export type Replies<M extends Message> = M extends { readonly [answer]?: () => infer Answer }
  ? typeof answer extends keyof M
    ? Answer
    : never
  : never;

/** What an address answers to its messages of a type: unknown for an untyped address. */
export type AnswerFrom<To extends Address, Type extends string> =
  To extends Reference<infer Messages> ? AnswerTo<Extract<Messages, { readonly type: Type }>> : unknown;

/**
 * Something that happened. Handled after the commit by the subscribers of its `name` (`run.ended`).
 */
export interface Fact {
  readonly name: string;
}

/** Asks whether a step may be taken, which others may refuse. The answer is a {@link GateAnswer} with the same `id`. */
export interface GateQuestion {
  /** The gate (`run.starting`). */
  readonly name: string;
  /** Unique for the asker. */
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

/** Work in the outside world, started after the commit. Its result is an {@link EffectEnded}. */
export interface EffectRequest {
  /** The name of a registered effect. */
  readonly name: string;
  /** The idempotency id: the same on every start of the same pending effect. Unique for the actor. */
  readonly id: string;
  /** Plain serialisable data. */
  readonly input: unknown;
  /** Saves the run a read: passed to it from memory if it is still there, never stored. */
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
 * What a machine gets with each message: the time, ids and random numbers of this turn; reads that see every earlier
 * turn and this turn's own writes; and a recorder for intents. A call only records: nothing is sent, started or
 * published before the batch is durable, and everything is discarded if the turn throws.
 *
 * Rows are read and written only in the actor's own partition. What has to be found without knowing the partition is
 * declared to directories.
 *
 * `Answer` is what the message's asker expects. A turn of an unknown message cannot reply.
 */
export interface Turn<in Answer = never> extends DirectedWriting {
  /** Milliseconds since the epoch, one value for the whole turn. */
  readonly now: number;
  readonly self: Address;
  /**
   * Does the work or none of it: false when it needs a damaged row, and then all that it wrote and recorded is discarded,
   * and the turn continues. For sweeps, which one damaged row must not end. The work neither replies nor stops the actor.
   */
  attempt(work: () => void): boolean;
  /**
   * The actor's in-memory state derived from rows, which it updates itself when it writes them. See {@link Picture}.
   */
  picture<Held>(picture: Picture<Held>): Held;
  /** `<prefix>_<ULID>`, rising within a process. */
  newId(prefix: string): string;
  /** A number in [0, 1). */
  random(): number;
  /** `count` random bytes. Cryptographically strong outside simulation. */
  randomBytes(count: number): Uint8Array;
  /** Sends a message. Delivered exactly once, in order for one sender and one receiver. */
  send<To extends Address>(to: To, message: MessageTo<To>): void;
  /**
   * Sends the first message that an actor ever gets: as `send`, but nothing that is stored of the actor is looked for.
   * Its address has to be new, so made of an id that is, and sent to by this turn alone until the actor has taken it.
   */
  sendFirst<To extends Address>(to: To, message: MessageTo<To>): void;
  /** Sets the wake-up `name` for `dueMs`, replacing an earlier one of that name. Delivered as {@link Woken}. */
  wake(name: string, dueMs: number): void;
  /** Cancels the wake-up `name`; none set is fine. */
  cancelWake(name: string): void;
  /** Starts an effect after the commit. */
  start(effect: EffectRequest): void;
  /** Cancels a pending effect and aborts it if it runs; its result is not delivered. None pending is fine. */
  cancelEffect(id: string): void;
  publish(fact: Fact): void;
  /** Asks whether a step may be taken; the answer arrives as {@link GateAnswer}. */
  askGate(question: GateQuestion): void;
  /** Appends something that happened to the change feed of this partition. */
  publishChange<Data>(topic: Topic<Data>, data: NoInfer<Data>): void;
  /**
   * Appends the changes of a row to the change feed, once a turn for each key: a later call for the same key replaces
   * the entries of an earlier one, and takes its own place in the order. `entriesSince` is called at once, with the row
   * as it was before the turn's first call for the key: `before` of that call.
   */
  publishRow<Row>(key: Key, before: Row | null, entriesSince: (first: Row | null) => readonly ChangeEntry[]): void;
  /**
   * Increments a counter of the process (`RuntimeStats.counters`) once the batch is durable. A new process starts at 0.
   */
  count(counter: string): void;
  /**
   * Answers the asker once the batch is durable. Without a call, the asker of a message that the machine takes gets
   * `undefined`; one of a message that no transition takes is rejected ({@link NotAccepted}).
   */
  readonly reply: (answer: Answer) => void;
  /** Ends the actor: its state, wake-ups and pending effects are removed with this batch. */
  stop(): void;
}

/** The reading part of a turn: rows, and the time. */
export type TurnReading = Pick<Turn, "get" | "range" | "now" | "self">;

/** A message as a machine receives it: its own fields and the turn. */
export type Delivered<M extends Message> = M extends Message ? M & { readonly turn: Turn<Replies<M>> } : never;
