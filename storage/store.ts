/**
 * The port every store implements: an ordered key-value map with atomic, durable batches.
 *
 * What is visible is durable: `reading` and views show only batches whose flush has ended, so an answer built
 * from them can never be taken back by a crash. Who needs to see its own unflushed writes lays an
 * {@link Overlay} over a reading.
 */

/**
 * One part of a key: well-formed text (no lone surrogate) without U+0000 to U+0004, or a safe integer (no -0).
 * Numbers sort before text. Under any other key nothing is found, and writing it is refused.
 */
export type KeyPart = string | number;

/** A key: parts in order, at most {@link MAX_KEY_BYTES} bytes once encoded. Sorted part by part. */
export type Key = readonly KeyPart[];

/** Longest encoded key LMDB takes, in bytes. */
export const MAX_KEY_BYTES = 1978;

/**
 * One key with its value. A value is plain data: what JSON holds, and undefined, Date, Map, Buffer, NaN, the infinities
 * and integers of 64 bits (bigint) inside it. Refused are undefined, a function or a symbol as the whole value, symbols
 * within and greater integers. Other things come back changed: a function within as undefined, an object of a class as a
 * record or what its `toJSON` says, a Set as a list, -0 as 0, a lone surrogate as U+FFFD, a field `__proto__` under
 * another name.
 */
export interface Entry<Value = unknown> {
  readonly key: Key;
  readonly value: Value;
}

/** A range of keys that begin with `prefix` (the prefix itself as a whole key is not part of it). */
export interface Range {
  readonly prefix: Key;
  /** Only keys sorted after this one (exclusive). A prefix longer than `prefix` skips everything below it too. */
  readonly after?: Key | undefined;
  /** Only keys sorted before this one (exclusive). */
  readonly before?: Key | undefined;
  /** At most this many entries. */
  readonly limit?: number | undefined;
  /** From the last key to the first. */
  readonly reverse?: boolean | undefined;
}

/** Synchronous reads. */
export interface Reading {
  get<Value = unknown>(key: Key): Value | undefined;
  range<Value = unknown>(range: Range): Entry<Value>[];
}

/** Reads that see the writes made through the same object. */
export interface Writing extends Reading {
  put(key: Key, value: unknown): void;
  remove(key: Key): void;
}

/** One write of a batch. */
export type Change =
  | { readonly op: "put"; readonly key: Key; readonly value: unknown }
  | { readonly op: "remove"; readonly key: Key };

/** A consistent read view: what was durable when it was opened, whatever is committed since. Close it. */
export interface View extends Reading {
  close(): void;
}

export interface Store {
  /** Reads what is durable now. */
  readonly reading: Reading;
  /**
   * Writes all changes or none, in the order given, and resolves once they are on disk (fsync).
   * Batches become durable in the order of the calls. Rejects with a {@link StoreError}; nothing of the batch is
   * then visible, and every batch committed after it rejects too: nobody builds on what is not there.
   */
  commit(changes: readonly Change[]): Promise<void>;
  /** Opens a consistent view. Throws `closed`, as its reads and all others do once the store is closed. */
  view(): View;
  /** Copies a consistent state into an empty or absent folder while serving goes on. Leaves nothing if it fails. */
  backup(folder: string): Promise<void>;
  /** Waits for commits and backups under way, then closes. Whatever is asked of the store or its views later fails. */
  close(): Promise<void>;
}

/** What can go wrong in a store, by code; the message names the folder and says what to do. */
export type StoreErrorCode =
  | "disk-full"
  | "read-only"
  | "in-use"
  | "damaged"
  | "newer-format"
  | "key-too-long"
  | "not-empty"
  | "closed"
  | "failed";

export class StoreError extends Error {
  override readonly name = "StoreError";
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
