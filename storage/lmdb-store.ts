/**
 * The store over LMDB. It owns one folder: `data.mdb` (LMDB's file) and `signalbox.lock`.
 *
 * 1. A commit resolves after its fsync, and what is visible is durable (`overlappingSync` is off).
 * 2. One process writes a folder: an exclusive lock that the system drops with the process, however it ends.
 * 3. After a commit failed, every later one is refused: nobody builds on what is not there.
 */
import { chmodSync, mkdirSync } from "node:fs";
import { type Database, open, type RootDatabase, type Transaction } from "lmdb";
import { backupInto } from "./backup.js";
import { checkDataFile } from "./data-file.js";
import { lockFolder } from "./folder-lock.js";
import { migrate } from "./migrations.js";
import { encodedRange, toEntries } from "./ranges.js";
import {
  type Change,
  type Key,
  type KeyPart,
  type Range,
  type Reading,
  type Store,
  StoreError,
  type View,
} from "./store.js";
import { storeError } from "./store-errors.js";

export interface LmdbOptions {
  readonly folder: string;
  /** Opens beside a serving process, for reading and backups; commits are refused. */
  readonly readOnly?: boolean;
}

type LmdbKey = KeyPart[];
type Values = Database<unknown, LmdbKey>;

/** Opens or creates the store in `folder` (mode 0700). Rejects with a {@link StoreError} that names the folder. */
export async function openLmdbStore(options: LmdbOptions): Promise<Store> {
  const { folder } = options;
  const readOnly = options.readOnly ?? false;
  let unlock = (): void => undefined;
  try {
    if (!readOnly) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      unlock = await lockFolder(folder);
      chmodSync(folder, 0o700);
    }
    checkDataFile(folder);
    const root: RootDatabase<unknown, LmdbKey> = open({
      path: folder,
      noSubdir: false,
      overlappingSync: false,
      encoding: "msgpack",
      sharedStructuresKey: Symbol.for("structures"),
      maxReaders: 512,
      readOnly,
    });
    const store = new LmdbStore(folder, root, readOnly, unlock);
    await migrate(store, folder, readOnly);
    return store;
  } catch (error) {
    unlock();
    throw storeError(error, folder);
  }
}

class LmdbStore implements Store {
  readonly reading: Reading;
  readonly #folder: string;
  readonly #root: Values & { close(): Promise<void> };
  readonly #readOnly: boolean;
  readonly #unlock: () => void;
  #failure: StoreError | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(folder: string, root: RootDatabase<unknown, LmdbKey>, readOnly: boolean, unlock: () => void) {
    this.#folder = folder;
    this.#root = root;
    this.#readOnly = readOnly;
    this.#unlock = unlock;
    this.reading = new LmdbReading(root);
  }

  commit(changes: readonly Change[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#readOnly) {
      return Promise.reject(new StoreError("read-only", `the store in ${this.#folder} was opened for reading only`));
    }
    const committed = this.#write(changes).catch(async (error: unknown) => {
      const cause = await causeOf(error);
      this.#failure ??= storeError(cause, this.#folder);
      throw this.#failure;
    });
    this.#underWay = committed.catch(() => undefined);
    return committed;
  }

  async #write(changes: readonly Change[]): Promise<void> {
    await this.#root.batch(() => {
      for (const change of changes) {
        if (change.op === "put") this.#root.put([...change.key], change.value);
        else this.#root.remove([...change.key]);
      }
    });
  }

  view(): View {
    if (this.#failure?.code === "closed") throw this.#failure;
    return new LmdbView(this.#root);
  }

  async backup(folder: string): Promise<void> {
    await backupInto(folder, (to) => this.#root.backup(to, false));
  }

  async close(): Promise<void> {
    if (this.#failure?.code === "closed") return;
    this.#failure = new StoreError("closed", `the store in ${this.#folder} is closed`);
    await this.#underWay;
    await this.#root.close();
    this.#unlock();
  }
}

/** LMDB's binding says of a batch only that it failed, and promises why beside it. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
}

class LmdbReading implements Reading {
  readonly #root: Values;
  readonly #transaction: Transaction | undefined;

  constructor(root: Values, transaction?: Transaction) {
    this.#root = root;
    this.#transaction = transaction;
  }

  get<Value>(key: Key): Value | undefined {
    const found =
      this.#transaction === undefined ? this.#root.get([...key]) : this.#within([...key], this.#transaction);
    return found as Value | undefined;
  }

  #within(key: LmdbKey, transaction: Transaction): unknown {
    return this.#root.get(key, { transaction });
  }

  range<Value>(range: Range) {
    const bounds = encodedRange(range);
    if (bounds === undefined) return [];
    return toEntries<Value>(
      this.#root.getRange({
        ...bounds,
        snapshot: true,
        ...(this.#transaction === undefined ? {} : { transaction: this.#transaction }),
      }),
    );
  }
}

class LmdbView extends LmdbReading implements View {
  readonly #transaction: Transaction;
  #open = true;

  constructor(root: Values) {
    const transaction = root.useReadTransaction();
    super(root, transaction);
    this.#transaction = transaction;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#transaction.done();
  }
}
