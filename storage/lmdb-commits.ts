/**
 * The road of batches to LMDB. It owns the order of commits and what a failure does to those behind it.
 *
 * 1. One LMDB transaction is under way at most; what is committed meanwhile goes into the next one together.
 * 2. A batch is checked and encoded before any of it is handed to LMDB, whose own batches do not roll back.
 * 3. After a batch failed, every later one is refused, also those that waited behind it.
 */
import { asBinary, type RootDatabase } from "lmdb";
import { checkChange } from "./change-check.js";
import type { Change, KeyPart, StoreError } from "./store.js";
import { storeError } from "./store-errors.js";

/** LMDB's store as it is used here, under keys of parts. */
export type LmdbRoot = RootDatabase<unknown, KeyPart[]>;

interface Encoder {
  encode(value: unknown): Buffer;
}

interface Write {
  readonly key: KeyPart[];
  /** None removes the key. */
  readonly bytes: Buffer | null;
}

interface Waiting {
  readonly writes: readonly Write[];
  resolve(): void;
  reject(error: StoreError): void;
}

export class LmdbCommits {
  readonly #root: LmdbRoot;
  readonly #encoder: Encoder;
  readonly #folder: string;
  #true: Buffer | null = null;
  #failure: StoreError | null = null;
  #waiting: Waiting[] = [];
  #underWay: Promise<void> | null = null;

  constructor(root: LmdbRoot, folder: string) {
    this.#root = root;
    this.#encoder = getEncoder(root);
    this.#folder = folder;
  }

  commit(changes: readonly Change[]): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    let writes: readonly Write[];
    try {
      writes = this.#encode(changes);
    } catch (error) {
      return Promise.reject(this.#fail(error));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ writes, resolve, reject });
      this.#underWay ??= this.#writeAll();
    });
  }

  /** Refuses what comes later with `failure`, and resolves when all that came before has ended. */
  async end(failure: StoreError): Promise<void> {
    this.#failure = failure;
    await this.#underWay;
  }

  #encode(changes: readonly Change[]): Write[] {
    const writes: Write[] = [];
    for (const change of changes) {
      checkChange(change);
      // The binding takes its own kind of list, and leaves it as it is.
      writes.push({ key: change.key.slice(), bytes: change.op === "put" ? this.#bytesOf(change.value) : null });
    }
    return writes;
  }

  #bytesOf(value: unknown): Buffer {
    if (value !== true) return this.#encoder.encode(value);
    // Rows of indexes say no more than that they are there.
    this.#true ??= Buffer.from(this.#encoder.encode(true));
    return this.#true;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What the rest of this turn of the event loop commits is taken along, and what those write next who were waiting
      // for the last group: else two groups take turns, and everybody waits for both.
      await new Promise(setImmediate);
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        const failure = this.#fail(await findCause(error));
        for (const { reject } of [...group, ...this.#waiting]) reject(failure);
        this.#waiting = [];
      }
    }
    this.#underWay = null;
  }

  #write(group: readonly Waiting[]): Promise<unknown> {
    return this.#root.batch(() => {
      for (const { writes } of group) {
        for (const { key, bytes } of writes) {
          if (bytes === null) this.#root.remove(key);
          else this.#root.put(key, asBinary(bytes));
        }
      }
    });
  }

  #fail(error: unknown): StoreError {
    const failure = storeError(error, this.#folder);
    this.#failure ??= failure;
    return failure;
  }
}

/**
 * The binding's own encoder, which its types leave out. What records of one shape have in common it keeps once, and
 * has it durable before it gives the bytes of any of them.
 */
function getEncoder(root: object): Encoder {
  if ("encoder" in root && isEncoder(root.encoder)) return root.encoder;
  throw new Error("this release of lmdb has no encoder");
}

function isEncoder(value: unknown): value is Encoder {
  return typeof value === "object" && value !== null && "encode" in value && typeof value.encode === "function";
}

/** LMDB's binding says of a batch only that it failed, and promises why beside it. */
async function findCause(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
}
