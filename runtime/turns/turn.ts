import type { Key } from "../../storage/store.js";
import type { Address } from "../cells/address.js";
import type { MessageTo, Reference } from "../cells/reference.js";
import type { DirectedWriting } from "../directories/directory.js";
import type { ChangeEntry, Topic } from "../feeds/topic.js";
import type { RowView } from "../rows/row-view.js";

/** A message to an actor: a type, and plain serializable data. A message must never contain a secret. */
export interface Message {
  readonly type: string;
}

declare const answer: unique symbol;

/** A message whose asker gets an `Answer`. Only the compiler knows this type. */
export interface Answered<Answer> extends Message {
  readonly [answer]?: () => Answer;
}

/** The answer type of a message: `undefined`, unless the message is {@link Answered}. */
export type AnswerTo<M extends Message> = M extends Message
  ? typeof answer extends keyof M
    ? Replies<M>
    : undefined
  : never;

/** The replies that a machine may give to a message: none, unless the message is {@link Answered}. */
export type Replies<M extends Message> = M extends { readonly [answer]?: () => infer Answer }
  ? typeof answer extends keyof M
    ? Answer
    : never
  : never;

/** The answer of an address to messages of one type: `unknown` for an untyped address. */
export type AnswerFrom<To extends Address, Type extends string> =
  To extends Reference<infer Messages> ? AnswerTo<Extract<Messages, { readonly type: Type }>> : unknown;

/**
 * An event in the publisher's partition. The subscribers of its `name` (such as `run.ended`) handle it after the
 * commit.
 */
export interface Fact {
  readonly name: string;
}

/**
 * Asks whether the actor may take a step. Other actors can refuse the step. The answer is a {@link GateAnswer} with the
 * same `id`.
 */
export interface GateQuestion {
  /** The name of the gate, such as `run.starting`. */
  readonly name: string;
  /** Unique for the asking actor. */
  readonly id: string;
}

/** The answer to a {@link GateQuestion}. The asker receives it exactly once. */
export interface GateAnswer extends Message {
  readonly type: "gate.answered";
  readonly gate: string;
  readonly id: string;
  /** Why the step is refused; null if it is allowed. */
  readonly refused: string | null;
}

/**
 * An occurrence that the log and the metrics of the process show. It contains only ids, keys, codes and numbers. It
 * must not contain a secret, or a text that a person or another system wrote.
 */
export interface Report {
  /** The kind of the occurrence, such as `run.ended`. */
  readonly name: string;
  /** The log line; null for an occurrence that only the metrics count. */
  readonly line: { readonly level: "info" | "warn"; readonly message: string } | null;
  readonly details: Readonly<Record<string, string | number | null>>;
}

/** A report, and the actor that made it. */
export interface Reported {
  readonly from: Address;
  readonly report: Report;
}

/**
 * Requests work in the outside world. The work starts after the commit. Its result is delivered as {@link EffectEnded}.
 */
export interface EffectRequest {
  /** The name of a registered effect. */
  readonly name: string;
  /** The idempotency id. Each start of the same pending effect uses the same id. Unique for the actor. */
  readonly id: string;
  /** Plain serializable data. */
  readonly input: unknown;
  /**
   * Data that saves the effect's run a read. The runtime keeps it in memory only, so it may be missing, for example
   * after a restart.
   */
  readonly memo?: unknown;
}

/**
 * The result of an effect. The actor that started the effect receives it exactly once, unless the effect was cancelled.
 */
export interface EffectEnded<Output = unknown> extends Message {
  readonly type: "effect.ended";
  readonly effect: string;
  readonly id: string;
  readonly result: { readonly ok: true; readonly output: Output } | { readonly ok: false; readonly error: string };
}

/** Sent to an actor when one of its wake-ups is due. */
export interface Woken extends Message {
  readonly type: "woken";
  readonly name: string;
  /** The due time of the wake-up, in milliseconds since the epoch. */
  readonly dueMs: number;
}

/**
 * A machine's interface to the runtime during one step. It provides the turn's time, ids and random numbers, and
 * records intents. Its reads see every earlier turn and this turn's own writes. A call only records: the runtime sends,
 * starts and publishes nothing before the batch is durable, and discards everything if the turn throws.
 *
 * Rows are read and written only in the actor's own partition. Use directories for lookups that do not know the
 * partition.
 *
 * `Answer` is the type that the message's asker expects. By default, the turn cannot reply.
 */
export interface Turn<in Answer = never> extends DirectedWriting {
  /** Milliseconds since the epoch; constant during the turn. */
  readonly now: number;
  readonly self: Address;
  /**
   * Runs `work` completely or not at all. If `work` needs a damaged row, its writes and intents are discarded, the turn
   * continues, and this method returns false. `work` must neither reply nor stop the actor.
   *
   * Use this in sweeps, so that one damaged row does not end the sweep.
   */
  attempt(work: () => void): boolean;
  /**
   * Returns the actor's in-memory state that is derived from rows. The actor must update it when it writes these rows.
   * See {@link RowView}.
   */
  rowView<View>(rowView: RowView<View>): View;
  /** Returns `<prefix>_<ULID>`. ULIDs increase within a process. */
  newId(prefix: string): string;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Returns `count` random bytes, cryptographically strong outside simulation. */
  randomBytes(count: number): Uint8Array;
  /**
   * Sends a message. The message is delivered exactly once. Messages from one sender to one receiver arrive in order.
   */
  send<To extends Address>(to: To, message: MessageTo<To>): void;
  /**
   * Sends the first message that an actor ever receives. This works like `send`, but does not look for stored data of
   * the actor. The address must be new, so use a new id. No other turn may send to this actor until it has taken the
   * message.
   */
  sendFirst<To extends Address>(to: To, message: MessageTo<To>): void;
  /**
   * Sets the wake-up `name` for `dueMs`. Replaces an earlier wake-up with that name. It is delivered as {@link Woken}.
   */
  wake(name: string, dueMs: number): void;
  /** Cancels the wake-up `name`. Has no effect if none is set. */
  cancelWake(name: string): void;
  /** Starts an effect after the commit. */
  start(effect: EffectRequest): void;
  /**
   * Cancels the pending effect `id`, and aborts it if it is running. Its result is not delivered. Has no effect if
   * there is no pending effect with this id.
   */
  cancelEffect(id: string): void;
  publish(fact: Fact): void;
  /** Asks whether a step is allowed. The answer arrives as a {@link GateAnswer}. */
  askGate(question: GateQuestion): void;
  /** Appends an entry to the change feed of this partition. */
  publishChange<Data>(topic: Topic<Data>, data: NoInfer<Data>): void;
  /**
   * Appends the changes of a row to the change feed. A later call with the same key in the same turn replaces the
   * entries of the earlier call; its own entries go to the end.
   *
   * `entriesSince` is called immediately. It receives the `before` of the turn's first call with this key.
   */
  publishRow<Row>(key: Key, before: Row | null, entriesSince: (first: Row | null) => readonly ChangeEntry[]): void;
  /**
   * Increments a counter of the process (`RuntimeStats.counters`) once the batch is durable. Each process starts at 0.
   */
  count(counter: string): void;
  /** Passes a report to the process (`RuntimeOptions.reported`) once the batch is durable. */
  report(report: Report): void;
  /**
   * Answers the asker once the batch is durable. If the machine accepts a message and does not call this, the asker
   * gets `undefined`. If no transition accepts the message, the ask is rejected with {@link NotAccepted}.
   */
  readonly reply: (answer: Answer) => void;
  /** Ends the actor. Its state, wake-ups and pending effects are removed in this batch. */
  stop(): void;
}

/** The read-only part of a turn. */
export type TurnReading = Pick<Turn, "get" | "range" | "now" | "self">;

/** A message in the form that a machine receives it: its own fields and the turn. */
export type Delivered<M extends Message> = M extends Message ? M & { readonly turn: Turn<Replies<M>> } : never;
