/**
 * The interface of every store: an ordered key-value map with atomic, durable batches.
 *
 * Everything visible is durable: `reading` and views show only flushed batches. So if an answer is based on what they
 * show, a crash never invalidates the answer. The runtime reads its own unflushed writes through
 * `runtime/turns/overlays.ts`.
 */

/**
 * One part of a key: well-formed text (no lone surrogate) without U+0000 to U+0004, or a safe integer (not -0). Numbers
 * sort before text. If a key has any other part, reads find nothing under the key, and writes to it are rejected.
 */
export type KeyPart = string | number;

/** A key: one or more parts, at most {@link MAX_KEY_BYTES} bytes after encoding. Keys are sorted part by part. */
export type Key = readonly KeyPart[];

/** Maximum size of an encoded key in LMDB, in bytes. */
export const MAX_KEY_BYTES = 1978;

/**
 * A key and its value. A value is plain data: JSON, and inside it also undefined, Date, Map, Buffer, NaN, infinities
 * and large integers (bigint).
 *
 * The store rejects undefined, a function or a symbol as the whole value, and any symbol inside a value. Reads return
 * some other values changed:
 *
 * - an inner function as undefined
 * - a class instance as a record or as the result of its `toJSON`
 * - a Set as an array
 * - -0 as 0
 * - a lone surrogate as U+FFFD
 * - a field `__proto__` under another name
 */
export interface Entry<Value = unknown> {
  readonly key: Key;
  readonly value: Value;
}

/** The keys that start with `prefix` and have at least one more part. */
export interface Range {
  readonly prefix: Key;
  /** Only keys after this key. Excludes this key and all keys that start with it. */
  readonly after?: Key | undefined;
  /** Only keys before this key, which is excluded. */
  readonly before?: Key | undefined;
  /** Maximum number of entries. */
  readonly limit?: number | undefined;
  /** Returns entries from the last key to the first. */
  readonly reverse?: boolean | undefined;
  /**
   * Called with the key of each entry whose value is damaged. The entry is left out and does not count against the
   * limit. Without this callback, the read throws `damaged`. The key itself may be damaged.
   */
  readonly onDamaged?: ((key: Key) => void) | undefined;
}

/** Synchronous reads. They throw a {@link StoreError} `damaged` rather than return a value that was not written. */
export interface Reading {
  get<Value = unknown>(key: Key): Value | undefined;
  range<Value = unknown>(range: Range): Entry<Value>[];
}

/** Reads and writes. The reads see the writes that were made through the same object. */
export interface Writing extends Reading {
  put(key: Key, value: unknown): void;
  remove(key: Key): void;
}

/** One write of a batch. */
export type Change =
  | { readonly op: "put"; readonly key: Key; readonly value: unknown }
  | { readonly op: "remove"; readonly key: Key };

/** How to write a batch. */
export interface CommitOptions {
  /**
   * Encodes a long batch in parts of about a twentieth of a millisecond. The event loop runs once between two parts.
   */
  readonly inShortParts?: boolean;
}

/** A consistent snapshot of the state that was durable when the view was opened. The caller must close it. */
export interface View extends Reading {
  close(): void;
}

export interface Store {
  /** Reads the durable state. */
  readonly reading: Reading;
  /**
   * Writes all changes or none, in the given order, and resolves once they are on disk (fsync). Batches become durable
   * in the order of the calls. Rejects with a {@link StoreError}. After a failure, no change of the batch is visible.
   * Every later commit is rejected too, because it may depend on the failed batch.
   */
  commit(changes: readonly Change[], options?: CommitOptions): Promise<void>;
  /** Opens a consistent view. Like all reads, throws `closed` after the store is closed. */
  view(): View;
  /**
   * Copies a consistent state into an empty or absent folder, while the store stays in use. A failed backup leaves no
   * files.
   */
  backup(folder: string): Promise<void>;
  /** Waits for running commits and backups, then closes. Later calls on the store or its views fail. */
  close(): Promise<void>;
}

/** The kinds of store errors. The message names the folder and says what to do. */
export type StoreErrorCode =
  | "disk-full"
  | "file-too-large"
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
  /** The key of the damaged row; null if no single row is known to be damaged. The key may be secret. */
  readonly key: Key | null;
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options: ErrorOptions & { readonly key?: Key } = {},
  ) {
    super(message, options);
    this.key = options.key ?? null;
  }
}

/** Whether a read failed because the stored data is damaged. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === "damaged";
}
