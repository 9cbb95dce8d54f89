import type { Change, Reading, Store, View } from "../storage/store.js";
import type { Catalogue } from "./actor-type.js";
import type { Address } from "./address.js";
import type { Clock, Scheduler } from "./clock.js";
import type { EffectWait } from "./lane.js";
import type { MessageTo } from "./reference.js";
import type { AnswerFrom, Message } from "./turn.js";

/** Everything a runtime needs from outside. */
export interface RuntimeOptions {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** The only source of randomness: cryptographically strong in production, seeded in simulation. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Never receives the contents of messages. */
  readonly log: RuntimeLog;
  readonly limits?: Partial<RuntimeLimits>;
  /** Tables whose rows are cached in memory; none by default. */
  readonly cachedTables?: readonly string[];
  /**
   * Called once when the store has failed. Every open ask is rejected, no further message is taken, and the process
   * should exit, so that the next one starts from what is on disk.
   */
  readonly onFatal?: (error: unknown) => void;
  /** Milliseconds from any fixed point. With it, a run of turns is bounded by time as well as by their number. */
  readonly elapsedMs?: () => number;
  /** Whether several parties wait for what it does: runs of turns and batches are short then. Never so by default. */
  readonly isShared?: () => boolean;
  /**
   * Continues nothing that earlier processes left: no message, wake-up or effect of theirs, which a later process finds as
   * they are. Takes asks for the actors that `takes` accepts, and rejects others with {@link Resting}.
   */
  readonly resting?: { readonly takes: (to: Address) => boolean };
  /** Freezes contexts, messages and rows, so that a later mutation throws. Costs time: for tests and simulation. */
  readonly freezes?: boolean;
}

export interface RuntimeLimits {
  /** Idle actors kept in memory. */
  readonly idleCells: number;
  /** Messages in one mailbox; beyond it, an ask is rejected with {@link Overloaded}. */
  readonly mailbox: number;
  /** Turns in one batch. */
  readonly turnsPerBatch: number;
  /** Feed entries kept in a partition; a reader further behind has to read the current state again. */
  readonly feedEntries: number;
  /** About how many bytes of feed entries are kept in a partition. */
  readonly feedBytes: number;
  /** Wake-ups kept in memory, the earliest ones; later ones are read from disk when they come near. */
  readonly timersInMemory: number;
}

export const defaultLimits: RuntimeLimits = {
  idleCells: 50_000,
  mailbox: 1_000,
  turnsPerBatch: 1_024,
  feedEntries: 10_000,
  feedBytes: 16 * 1024 * 1024,
  timersInMemory: 2_048,
};

export interface RuntimeLog {
  warn(message: string, details: Record<string, unknown>): void;
  error(message: string, details: Record<string, unknown>): void;
}

export interface Runtime {
  /**
   * Delivers a message and resolves with the actor's reply once its turn is durable.
   * Rejects with {@link NotAccepted}, {@link Overloaded}, {@link TurnFailed}, {@link Stopping} or {@link Resting}, or with the store's
   * error ({@link isDamage}) when the turn needs a damaged row.
   * With `messageId`, a message that the actor has taken under the same id within 24 hours is not taken again; the ask
   * then resolves with `undefined`.
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
  /** Logs and counts the row of an error ({@link isDamage}) that a read outside of a turn threw; ignores other errors. */
  damageMet(error: unknown): void;
  /**
   * Reports changes of another node that are now durable in the store: memory drops what depended on their rows. Actors
   * that these changes write must not be active here; otherwise the runtime stops as if its store had failed.
   */
  applied(changes: readonly Change[]): void;
  /** Reads the durable state. */
  readonly reading: Reading;
  /** A consistent view of the durable state; the caller closes it. */
  view(): View;
  readonly feed: Feed;
  readonly clock: Clock;
  /** `<prefix>_<ULID>`. */
  newId(prefix: string): string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly deadLetters: DeadLetters;
  /** Why an actor's effect has not begun yet; null when it is under way or not pending. */
  waitOf(owner: Address, effectId: string): EffectWait | null;
  /** Figures for the metrics page. */
  stats(): RuntimeStats;
  /**
   * Begins no more effects; resolves when the results of those under way that are not made again are taken. Call before
   * `stop`, for as long as there is time.
   */
  finishEffects(): Promise<void>;
  /**
   * Rejects new asks, finishes open ones, flushes. Running effects are aborted and stay pending. The store stays open.
   */
  stop(): Promise<void>;
}

/** One entry of a partition's change feed. */
export interface FeedEntry {
  /** Rises by one with each entry of the partition, without gaps. */
  readonly seq: number;
  readonly topic: string;
  readonly data: unknown;
}

export interface Feed {
  /** The last durable sequence number of a partition; 0 when it has none. */
  lastSeq(partition: string): number;
  /**
   * Entries of `topic` with a seq above `after`, oldest first. "too-old" when some of them were trimmed, or when
   * `after` is above the last entry.
   */
  since(partition: string, topic: string, after: number): readonly FeedEntry[] | "too-old";
  /**
   * Calls `listener` with each entry of `topic` after its flush, in order. Returns what ends it. It must not throw.
   * A caller of `since` and `listen` without an await between them misses nothing, but may get an entry twice.
   */
  listen(partition: string, topic: string, listener: (entry: FeedEntry) => void): () => void;
}

/** A message that was set aside because it kept crashing its actor. */
export interface DeadLetter {
  readonly id: string;
  readonly to: Address;
  readonly message: Message;
  readonly error: string;
  readonly atMs: number;
}

export interface DeadLetters {
  list(partition: string, limit: number): readonly DeadLetter[];
  /** Sends the message again and removes the record; false when there is none with that id. */
  retry(partition: string, id: string): Promise<boolean>;
}

export interface RuntimeStats {
  readonly turns: number;
  readonly batches: number;
  /** Messages that no transition took any more: stale wake-ups, late answers. */
  readonly unhandled: number;
  readonly crashes: number;
  /** Dead letters since the start. */
  readonly deadLetters: number;
  /** Damaged rows met since the start, each counted once, up to 1,000. */
  readonly damagedRows: number;
  /** Turns that were not taken since the start because something that they need is damaged. */
  readonly damagedTurns: number;
  readonly cells: number;
  readonly mailboxDepth: number;
  readonly pendingEffects: number;
  readonly runningEffects: number;
  /** Of each lane used since the start: the places taken, and the effects waiting for one. */
  readonly lanes: readonly { readonly name: string; readonly taken: number; readonly waiting: number }[];
  /** Wake-ups in memory, the earliest ones; later ones are on disk. */
  readonly timers: number;
  /** Counts of `turn.count` since the start, by name. */
  readonly counters: ReadonlyMap<string, number>;
  /** Seconds that each flush took since the last call of `stats`; at most 1,000 values. */
  readonly flushSeconds: readonly number[];
}

/** Whether a read, or an ask, failed because what is stored is damaged. */
export { isDamage } from "../storage/store.js";

/** What an actor did not take, and its state then, where that has one name. */
export interface Untaken {
  readonly kind: string;
  readonly message: string;
  readonly state?: string;
}

/** No transition of the actor takes this message in the state it is in. */
export class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  readonly untaken: Untaken | undefined;

  constructor(message: string, untaken?: Untaken) {
    super(message);
    if (untaken !== undefined) this.untaken = untaken;
  }
}
/** The mailbox is full. */
export class Overloaded extends Error {
  override readonly name = "Overloaded";
}
/** The turn threw; nothing of it was kept. */
export class TurnFailed extends Error {
  override readonly name = "TurnFailed";
}
/** The runtime rests, and takes no message of this actor. */
export class Resting extends Error {
  override readonly name = "Resting";
}
/** The runtime is shutting down. */
export class Stopping extends Error {
  override readonly name = "Stopping";
}
