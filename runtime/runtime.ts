import type { Change, Reading, Store, View } from "../storage/store.js";
import type { Catalogue } from "./cells/actor-type.js";
import type { Address } from "./cells/address.js";
import type { MessageTo } from "./cells/reference.js";
import type { Clock, Scheduler } from "./clock.js";
import type { EffectWait } from "./effects/lane.js";
import type { RowMemory } from "./rows/row-memory.js";
import type { Tracing } from "./tracing.js";
import type { AnswerFrom, Message, Reported } from "./turns/turn.js";

/** The options of a runtime. */
export interface RuntimeOptions {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** The only source of randomness: cryptographically strong in production, seeded in simulation. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The log never receives message contents. */
  readonly log: RuntimeLog;
  readonly limits?: Partial<RuntimeLimits>;
  /** Tables whose rows to cache in memory; none by default. */
  readonly cachedTables?: readonly string[];
  /**
   * Called once after the store has failed. By then the runtime has rejected every open ask, and it takes no further
   * message. The process should exit, so that the next process starts from the state on disk.
   */
  readonly onFatal?: (error: unknown) => void;
  /**
   * Called with each report of a turn (`turn.report`) once the turn's batch is durable. The function must not throw.
   */
  readonly reported?: (reported: Reported) => void;
  /** Records traces of asks; none by default. */
  readonly tracing?: Tracing | undefined;
  /** More in-memory state that depends on rows. */
  readonly memories?: readonly RowMemory[];
  /**
   * Returns milliseconds since a fixed point. If it is given, a run of turns is limited by time as well as by number.
   */
  readonly elapsedMs?: () => number;
  /** Whether several clients are active. If so, runs of turns and batches are short. By default always false. */
  readonly isShared?: () => boolean;
  /**
   * Set this to start a resting runtime. A resting runtime does not continue any message, wake-up or effect of earlier
   * processes; a later process finds them unchanged. It takes asks for the actors that `takes` accepts, and rejects all
   * other asks with {@link Resting}.
   */
  readonly resting?: { readonly takes: (to: Address) => boolean };
  /**
   * Freezes contexts, messages and rows, so that a later mutation throws. Freezing costs time; use this option in tests
   * and simulation.
   */
  readonly freezes?: boolean;
}

export interface RuntimeLimits {
  /** Maximum number of actors in memory before idle actors are dropped. */
  readonly idleCells: number;
  /** Maximum messages in one mailbox. Beyond it, an ask is rejected with {@link Overloaded}. */
  readonly mailbox: number;
  /** Maximum turns in one batch. */
  readonly turnsPerBatch: number;
  /**
   * Number of feed entries to store per partition. A reader that is further behind must read the current state again.
   */
  readonly feedEntries: number;
  /** Approximate size of the feed entries to store per partition, in bytes. */
  readonly feedBytes: number;
  /**
   * Number of wake-ups to keep in memory, earliest first. Later wake-ups are read from disk when they are nearly due.
   */
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
   * Delivers a message. Resolves with the actor's reply once the turn is durable. Rejects with {@link NotAccepted},
   * {@link Overloaded}, {@link TurnFailed}, {@link Stopping} or {@link Resting}. Rejects with the store's error ({@link
   * isDamage}) if the turn needs a damaged row.
   *
   * With `messageId`, the actor takes the message only if it took none with this id in the last 24 hours. Otherwise the
   * ask resolves with `undefined`.
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
   * Logs and counts the damaged row of an error ({@link isDamage}) from a read outside a turn. Ignores other errors.
   */
  damageMet(error: unknown): void;
  /**
   * Reports changes that another node has made durable in the store. The runtime then drops or updates what it derived
   * from the changed rows. If one of these rows belongs to an actor that is active here, the runtime stops as if its
   * store had failed.
   */
  applied(changes: readonly Change[]): void;
  /** Reads the durable state. */
  readonly reading: Reading;
  /** Returns a consistent view of the durable state. The caller must close it. */
  view(): View;
  readonly feed: Feed;
  readonly clock: Clock;
  /** Returns `<prefix>_<ULID>`. */
  newId(prefix: string): string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly deadLetters: DeadLetters;
  /** Returns why an effect of the actor has not begun yet; null if the effect is running or not pending. */
  lookUpWait(owner: Address, effectId: string): EffectWait | null;
  /** Returns figures for the metrics page. */
  stats(): RuntimeStats;
  /**
   * Stops beginning effects. Resolves when the results of all running `isMadeOnce` runs are taken. Call this before
   * `stop`, and wait as long as the shutdown allows.
   */
  finishEffects(): Promise<void>;
  /**
   * Rejects new asks, finishes open ones, and flushes. Aborts running effects, which stay pending. The store stays
   * open.
   */
  stop(): Promise<void>;
}

/** One entry of a partition's change feed. */
export interface FeedEntry {
  /** Increases by one with each entry of the partition, without gaps. */
  readonly seq: number;
  readonly topic: string;
  readonly data: unknown;
}

export interface Feed {
  /** Returns the last durable sequence number of a partition; 0 if it has no entries. */
  lastSeq(partition: string): number;
  /**
   * Returns the last sequence number that listeners have received. It can be below {@link lastSeq} for a moment, because
   * readers see a flush before listeners do.
   */
  releasedSeq(partition: string): number;
  /**
   * Returns the entries of `topic` with a `seq` above `after`, oldest first. Returns "too-old" if some of the entries
   * after it were trimmed or are damaged, or if `after` is above the last entry.
   */
  since(partition: string, topic: string, after: number): readonly FeedEntry[] | "too-old";
  /** Like {@link since}, for the entries of several topics. */
  sinceOf(partition: string, topics: ReadonlySet<string>, after: number): readonly FeedEntry[] | "too-old";
  /** Measures a partition's stored entries, and follows their size from then on (`RuntimeStats.feedBytes`). */
  measure(partition: string): void;
  /**
   * Calls `listener` with each entry of `topic` after its flush, in order. Returns a function that ends the
   * subscription. The listener must not throw. A caller that calls `since` and `listen` without an await between them
   * misses no entry, but may receive an entry twice.
   */
  listen(partition: string, topic: string, listener: (entry: FeedEntry) => void): () => void;
}

/** A message that the runtime stopped delivering, because its turns failed. */
export interface DeadLetter {
  readonly id: string;
  readonly to: Address;
  readonly message: Message;
  readonly error: string;
  readonly atMs: number;
}

export interface DeadLetters {
  list(partition: string, limit: number): readonly DeadLetter[];
  /**
   * Sends the message again and removes the dead letter. Returns false if there is no dead letter with that id, or if
   * it is already being retried.
   */
  retry(partition: string, id: string): Promise<boolean>;
}

export interface RuntimeStats {
  readonly turns: number;
  readonly batches: number;
  /** Messages that no transition accepted, such as stale wake-ups and late answers. */
  readonly unhandled: number;
  readonly crashes: number;
  /** Dead letters added since the start. */
  readonly deadLetters: number;
  /** Damaged rows found since the start, each counted once, up to 1,000. */
  readonly damagedRows: number;
  /** Turns since the start that could not run because they needed a damaged row. */
  readonly damagedTurns: number;
  readonly cells: number;
  readonly mailboxDepth: number;
  readonly pendingEffects: number;
  readonly runningEffects: number;
  /**
   * For each lane used since the start: the number of taken places, and the number of effects that wait for a place.
   */
  readonly lanes: readonly { readonly name: string; readonly taken: number; readonly waiting: number }[];
  /** Number of wake-ups in memory, which are the earliest ones. Later ones are on disk. */
  readonly timers: number;
  /** Approximate size of the stored feed entries of all partitions that {@link Feed.measure} measured, in bytes. */
  readonly feedBytes: number;
  /** Totals of `turn.count` since the start, by name. */
  readonly counters: ReadonlyMap<string, number>;
  /** Duration of each flush since the last call of `stats`, in seconds; at most 1,000 values. */
  readonly flushSeconds: readonly number[];
}

/** Whether a read or an ask failed because stored data is damaged. */
export { isDamage } from "../storage/store.js";

/** A message that an actor did not accept, and the actor's state at that time, if that state has a single name. */
export interface Untaken {
  readonly kind: string;
  readonly message: string;
  readonly state?: string;
}

/**
 * No transition of the actor accepts this message in its current state, or the catalogue does not have the actor's
 * kind.
 */
export class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  readonly untaken: Untaken | undefined;

  constructor(message: string, untaken?: Untaken) {
    super(message);
    if (untaken !== undefined) this.untaken = untaken;
  }
}
/** The mailbox is full, or the actor is suspended after too many crashes. */
export class Overloaded extends Error {
  override readonly name = "Overloaded";
}
/** The turn threw. All its changes are discarded. */
export class TurnFailed extends Error {
  override readonly name = "TurnFailed";
}
/**
 * The runtime was started with {@link RuntimeOptions.resting} (as for `--read-only`), and does not accept this message.
 */
export class Resting extends Error {
  override readonly name = "Resting";
}
/** The runtime is shutting down. */
export class Stopping extends Error {
  override readonly name = "Stopping";
}
