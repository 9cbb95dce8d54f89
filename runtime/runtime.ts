import type { Change, Reading, Store, View } from "../storage/store.js";
import type { Catalogue } from "./actor-type.js";
import type { Address } from "./address.js";
import type { Clock, Scheduler } from "./clock.js";
import type { MessageTo } from "./reference.js";
import type { AnswerFrom, Message } from "./turn.js";

/** Everything a runtime needs from outside. */
export interface RuntimeOptions {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Strong random bytes in production, seeded ones in simulation: the only source of chance. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Told what happens inside; never handed message contents. */
  readonly log: RuntimeLog;
  readonly limits?: Partial<RuntimeLimits>;
  /** Tables whose rows are held in memory; none by default. */
  readonly cachedTables?: readonly string[];
  /**
   * Called once when the store has failed: every waiting ask is rejected, nothing more is taken, and the process
   * should end, so that the next one begins from what is on disk.
   */
  readonly onFatal?: (error: unknown) => void;
  /** Freezes contexts, messages and rows, so that a later mutation throws. Costs time: for tests and simulation. */
  readonly freezes?: boolean;
}

export interface RuntimeLimits {
  /** Cells kept in memory while idle. */
  readonly idleCells: number;
  /** Messages waiting in one mailbox before an ask is refused with {@link Overloaded}. */
  readonly mailbox: number;
  /** Turns in one batch. */
  readonly turnsPerBatch: number;
  /** Feed entries kept in a partition; a reader that is further behind is told to start afresh. */
  readonly feedEntries: number;
  /** Wake-ups of the earliest due times held in memory; later ones are read from disk when their time comes near. */
  readonly timersInMemory: number;
}

/** What a runtime is bounded by when nothing else is said. */
export const defaultLimits: RuntimeLimits = {
  idleCells: 50_000,
  mailbox: 1_000,
  turnsPerBatch: 1_024,
  feedEntries: 10_000,
  timersInMemory: 8_192,
};

export interface RuntimeLog {
  warn(message: string, details: Record<string, unknown>): void;
  error(message: string, details: Record<string, unknown>): void;
}

export interface Runtime {
  /**
   * Delivers a message and answers with what the actor replied, once that is on disk.
   * Rejects with {@link NotAccepted}, {@link Overloaded}, {@link TurnFailed} or {@link Stopping}.
   * With `messageId`, a message already taken by that actor under the same id (within 24 hours) is not taken again
   * and answers `undefined`.
   */
  ask<To extends Address, Type extends MessageTo<To>["type"]>(
    to: To,
    message: MessageTo<To> & { readonly type: Type },
  ): Promise<AnswerFrom<To, Type>>;
  ask<To extends Address, Type extends MessageTo<To>["type"]>(
    to: To,
    message: MessageTo<To> & { readonly type: Type },
    options: { readonly messageId?: string } | undefined,
  ): Promise<AnswerFrom<To, Type> | undefined>;
  /**
   * These changes, which another node made, are durable in the store now: what memory holds of their rows is dropped.
   * They are of partitions whose actors do not run here; otherwise the runtime stops as if its store had failed.
   */
  applied(changes: readonly Change[]): void;
  /** Reads what is durable now. */
  readonly reading: Reading;
  /** A consistent view; close it. */
  view(): View;
  readonly feed: Feed;
  readonly clock: Clock;
  /** `<prefix>_<ULID>`. */
  newId(prefix: string): string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly deadLetters: DeadLetters;
  /** Figures for the metrics page, by name. */
  stats(): RuntimeStats;
  /** Stops accepting asks, finishes turns, flushes. Effects under way are aborted and stay pending. The store stays open. */
  stop(): Promise<void>;
}

/** One entry of a partition's change feed. */
export interface FeedEntry {
  /** Rises by one with each entry of the partition, without a gap. */
  readonly seq: number;
  readonly topic: string;
  readonly data: unknown;
}

export interface Feed {
  /** The last durable sequence number of a partition; 0 when it has none. */
  lastSeq(partition: string): number;
  /** Entries of `topic` with a seq above `after`, oldest first, or "too-old" when some are no longer kept, or are not there. */
  since(partition: string, topic: string, after: number): readonly FeedEntry[] | "too-old";
  /**
   * Hears each entry of `topic` after its flush, in order. Returns what ends it. Listeners never throw. Who calls
   * `since` and `listen` in one go misses nothing, and may hear an entry of `since` once more.
   */
  listen(partition: string, topic: string, hear: (entry: FeedEntry) => void): () => void;
}

/** A message that kept crashing its actor, set aside. */
export interface DeadLetter {
  readonly id: string;
  readonly to: Address;
  readonly message: Message;
  readonly error: string;
  readonly atMs: number;
}

export interface DeadLetters {
  list(partition: string, limit: number): readonly DeadLetter[];
  /** Sends the message again and removes the record; false when there is none of that id. */
  retry(partition: string, id: string): Promise<boolean>;
}

export interface RuntimeStats {
  readonly turns: number;
  readonly batches: number;
  /** Messages that came too late for any transition to take them: stale wake-ups, answers to what has ended. */
  readonly unhandled: number;
  readonly crashes: number;
  /** Messages set aside since the start. */
  readonly deadLetters: number;
  readonly cells: number;
  readonly mailboxDepth: number;
  readonly pendingEffects: number;
  readonly runningEffects: number;
  /** Wake-ups held in memory, the earliest ones; later ones stay on disk. */
  readonly timers: number;
  /** What turns have counted since the start, by name. */
  readonly counters: ReadonlyMap<string, number>;
  /** Seconds each of the latest flushes took, drained by the reader. */
  readonly flushSeconds: readonly number[];
}

/** No transition of the actor takes this message in the state it is in. */
export class NotAccepted extends Error {
  override readonly name = "NotAccepted";
}
/** The mailbox is full. */
export class Overloaded extends Error {
  override readonly name = "Overloaded";
}
/** The turn threw; nothing of it was kept. */
export class TurnFailed extends Error {
  override readonly name = "TurnFailed";
}
/** The runtime is shutting down. */
export class Stopping extends Error {
  override readonly name = "Stopping";
}
