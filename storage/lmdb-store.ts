/**
 * The store over LMDB. It owns one folder: `data.mdb`, LMDB's `lock.mdb` (its reader table) and `signalbox.lock`.
 *
 * 1. A commit resolves after its fsync. Everything visible is durable (`overlappingSync` is off).
 * 2. Only one process writes a folder. That process holds an exclusive lock, which the kernel drops when the process
 *    ends.
 * 3. The file is checked before LMDB maps it, because a damaged file would crash the process with a signal.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { backupInto } from "./backup.js";
import { checkDataFile, DATA_FILE } from "./data-file.js";
import type { LockOptions } from "./folder-lock.js";
import { LmdbCommits } from "./lmdb-commits.js";
import { LmdbReading, type LmdbSource, LmdbView } from "./lmdb-reading.js";
import { type LmdbRoot, openValues } from "./lmdb-values.js";
import { type Change, type CommitOptions, type Reading, type Store, StoreError, type View } from "./store.js";
import { storeError } from "./store-errors.js";
import { prepareFolder } from "./store-folder.js";

export interface LmdbOptions extends LockOptions {
  readonly folder: string;
  /** Opens the store only for reads and backups, even while another process serves it. The store rejects commits. */
  readonly readOnly?: boolean;
  /** Rejects a folder without a store instead of creating a store there. */
  readonly mustExist?: boolean;
  /** Checks all pages of a file of any size. No other process may write the file. */
  readonly checksAllPages?: boolean;
  /** Omits free pages from backups, which then take longer. */
  readonly compactsBackups?: boolean;
}

/**
 * Maximum number of concurrent read transactions in all processes. Views of the same state share one read transaction.
 */
const MAX_READERS = 1024;

/**
 * Opens or creates the store in `folder` (mode 0700, unless it contains other files). Rejects with a {@link StoreError}
 * that names the folder.
 */
export async function openLmdbStore(options: LmdbOptions): Promise<Store> {
  const { folder } = options;
  const readOnly = options.readOnly ?? false;
  const cleanups: (() => unknown)[] = [];
  const release = async () => {
    for (let step = cleanups.pop(); step !== undefined; step = cleanups.pop()) await step();
  };
  try {
    if (readOnly || options.mustExist === true) assertStoreIn(folder);
    if (!readOnly) cleanups.push(await prepareFolder(folder, options));
    // Another process may change pages of a read-only store during the check, so check its pages only if some are
    // missing.
    checkDataFile(folder, options.checksAllPages === true ? Number.POSITIVE_INFINITY : readOnly ? 0 : undefined);
    const source = openValues((options) => {
      const root: LmdbRoot = open({
        path: folder,
        noSubdir: false,
        overlappingSync: false,
        eventTurnBatching: false,
        ...options,
        maxReaders: MAX_READERS,
        readOnly,
      });
      cleanups.push(() => root.close());
      return root;
    });
    return new LmdbStore({ ...source, folder, closed: false }, options, release);
  } catch (error) {
    await release();
    throw storeError(error, folder);
  }
}

/** Throws if the folder contains no store. */
export function assertStoreIn(folder: string): void {
  if (existsSync(join(folder, DATA_FILE))) return;
  throw new StoreError("failed", `${folder} is not a store: it has no ${DATA_FILE}`);
}

class LmdbStore implements Store {
  readonly reading: Reading;
  readonly #source: LmdbSource;
  readonly #commits: LmdbCommits;
  readonly #readOnly: boolean;
  readonly #compacts: boolean;
  readonly #release: () => Promise<void>;
  readonly #backups = new Set<Promise<void>>();
  #closing: Promise<void> | null = null;

  constructor(source: LmdbSource, options: LmdbOptions, release: () => Promise<void>) {
    this.reading = new LmdbReading(source);
    this.#source = source;
    this.#commits = new LmdbCommits(source.root, source.values, source.folder);
    this.#readOnly = options.readOnly ?? false;
    this.#compacts = options.compactsBackups ?? false;
    this.#release = release;
  }

  commit(changes: readonly Change[], options?: CommitOptions): Promise<void> {
    if (!this.#readOnly) return this.#commits.commit(changes, options);
    return Promise.reject(new StoreError("read-only", `the store in ${this.#source.folder} is open for reading only`));
  }

  view(): View {
    return new LmdbView(this.#source);
  }

  async backup(folder: string): Promise<void> {
    if (this.#closing !== null) throw this.#closed();
    const copying = backupInto(folder, (to) => this.#source.root.backup(to, this.#compacts));
    this.#backups.add(copying);
    try {
      await copying;
    } finally {
      this.#backups.delete(copying);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.end(this.#closed());
    await Promise.allSettled(this.#backups);
    this.#source.closed = true;
    await this.#release();
  }

  #closed(): StoreError {
    return new StoreError("closed", `the store in ${this.#source.folder} is closed`);
  }
}
