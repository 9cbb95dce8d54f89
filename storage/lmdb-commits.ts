/**
 * Commits batches to LMDB. Owns the order of batches, and the effect of a failed batch on later ones.
 *
 * 1. At most one LMDB transaction is open. Batches that arrive meanwhile share the next transaction.
 * 2. A batch is checked when it arrives. It is fully encoded before any part of it goes to LMDB, because LMDB's own
 *    batches do not roll back. A long batch is encoded in parts, and other work runs between them. So the values of a
 *    batch must not change after the call.
 * 3. After a failed batch, every later batch is rejected, including batches that are already waiting.
 */
import { asBinary } from "lmdb";
import { checkChange } from "./change-check.js";
import type { LmdbRoot, LmdbValues } from "./lmdb-values.js";
import type { Change, CommitOptions, KeyPart, StoreError } from "./store.js";
import { isInterrupted, storeError } from "./store-errors.js";

/** Number of changes to encode without a pause: about half a millisecond. */
const ENCODED_AT_ONCE = 128;
/**
 * Number of changes to encode without a pause in a batch that is written in short parts: about a twentieth of a
 * millisecond.
 */
const SHORT_AT_ONCE = 12;
/** Maximum number of attempts to write a group if its flush is interrupted. */
const MAX_ATTEMPTS = 100;

interface Write {
  readonly key: KeyPart[];
  /** The value's bytes; null removes the key. */
  readonly bytes: Buffer | null;
}

interface Waiting {
  readonly changes: readonly Change[];
  readonly atOnce: number;
  resolve(): void;
  reject(error: StoreError): void;
}

export class LmdbCommits {
  readonly #root: LmdbRoot;
  readonly #values: LmdbValues;
  readonly #folder: string;
  #failure: StoreError | null = null;
  #waiting: Waiting[] = [];
  #underWay: Promise<void> | null = null;

  constructor(root: LmdbRoot, values: LmdbValues, folder: string) {
    this.#root = root;
    this.#values = values;
    this.#folder = folder;
  }

  commit(changes: readonly Change[], { inShortParts = false }: CommitOptions = {}): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    try {
      for (const change of changes) checkChange(change);
    } catch (error) {
      return Promise.reject(this.#fail(error));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, atOnce: inShortParts ? SHORT_AT_ONCE : ENCODED_AT_ONCE, resolve, reject });
      this.#underWay ??= this.#writeAll();
    });
  }

  /** Rejects later commits with `failure`. Resolves when all earlier commits have ended. */
  async end(failure: StoreError): Promise<void> {
    this.#failure = failure;
    await this.#underWay;
  }

  async #encode(group: readonly Waiting[]): Promise<readonly Write[]> {
    const writes: Write[] = [];
    for (const { changes, atOnce } of group) {
      for (const change of changes) {
        if (writes.length % atOnce === atOnce - 1) await new Promise(setImmediate);
        const bytes = change.op === "put" ? this.#values.encode(change.key, change.value) : null;
        writes.push({ key: change.key.slice(), bytes });
      }
      // Pause first: passing the batch on to LMDB takes about as long as encoding two short parts.
      if (atOnce === SHORT_AT_ONCE && changes.length >= atOnce) await new Promise(setImmediate);
    }
    return writes;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Wait for commits that follow immediately, in particular the next commits of callers whose last commit has just
      // ended. Otherwise two groups would alternate, and every caller would wait for both.
      const isShort = this.#waiting.every(({ atOnce }) => atOnce === SHORT_AT_ONCE);
      await new Promise<void>((go) => void (isShort ? setImmediate(go) : process.nextTick(go)));
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#writeUninterrupted(await this.#encode(group));
        this.#values.committed();
        for (const { resolve } of group) resolve();
      } catch (error) {
        const failure = this.#fail(error);
        for (const { reject } of [...group, ...this.#waiting]) reject(failure);
        this.#waiting = [];
      }
    }
    this.#underWay = null;
  }

  /**
   * Writes a group. If a signal interrupts the flush, LMDB undoes the transaction, and this method writes the group
   * again.
   */
  async #writeUninterrupted(writes: readonly Write[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(writes);
        return;
      } catch (error) {
        const cause = await findCause(error);
        if (!isInterrupted(cause) || attempt === MAX_ATTEMPTS) throw cause;
      }
    }
  }

  #write(writes: readonly Write[]): Promise<unknown> {
    return this.#root.batch(() => {
      this.#values.putNewShapes();
      for (const { key, bytes } of writes) {
        if (bytes === null) this.#root.remove(key);
        else this.#root.put(key, asBinary(bytes));
      }
    });
  }

  #fail(error: unknown): StoreError {
    const failure = storeError(error, this.#folder);
    this.#failure ??= failure;
    return failure;
  }
}

/** Returns the cause of a failed batch, which LMDB's binding provides as a promise in `commitError`. */
async function findCause(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
}
