import type { Transaction } from "lmdb";
import { isKey } from "./key-check.js";
import { DamagedValue, type LmdbRoot, type LmdbValues, toKey } from "./lmdb-values.js";
import { encodedRange } from "./ranges.js";
import { type Entry, type Key, type Range, type Reading, StoreError, type View } from "./store.js";
import { damagedRow, readingError, storeError } from "./store-errors.js";

/** An LMDB database, shared by its readings and views. */
export interface LmdbSource {
  readonly root: LmdbRoot;
  readonly values: LmdbValues;
  readonly folder: string;
  closed: boolean;
}

/** Reads the durable state. */
export class LmdbReading implements Reading {
  readonly #source: LmdbSource;

  constructor(source: LmdbSource) {
    this.#source = source;
  }

  get<Value>(key: Key): Value | undefined {
    return get<Value>(this.#source, key, undefined);
  }

  range<Value>(range: Range): Entry<Value>[] {
    return readRange<Value>(this.#source, range, undefined);
  }
}

/**
 * Reads the state that was durable when the view was opened. LMDB keeps that state's pages until the view is closed.
 */
export class LmdbView implements View {
  readonly #source: LmdbSource;
  readonly #transaction: Transaction;
  #open = true;

  constructor(source: LmdbSource) {
    assertOpen(source);
    this.#source = source;
    try {
      this.#transaction = source.root.useReadTransaction();
    } catch (error) {
      throw storeError(error, source.folder);
    }
  }

  get<Value>(key: Key): Value | undefined {
    this.#assertOpen();
    return get<Value>(this.#source, key, { transaction: this.#transaction });
  }

  range<Value>(range: Range): Entry<Value>[] {
    this.#assertOpen();
    return readRange<Value>(this.#source, range, { transaction: this.#transaction });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    if (!this.#source.closed) this.#transaction.done();
  }

  #assertOpen(): void {
    if (!this.#open) throw new StoreError("closed", `a view of the store in ${this.#source.folder} is closed`);
  }
}

type At = { readonly transaction: Transaction } | undefined;

function get<Value>(source: LmdbSource, key: Key, at: At): Value | undefined {
  assertOpen(source);
  if (!isKey(key)) return undefined;
  let value: unknown;
  try {
    value = source.values.get(key, at);
  } catch (error) {
    throw readingError(error, source.folder);
  }
  if (value instanceof DamagedValue) throw damagedRow(source.folder, key, value.cause);
  return value as Value | undefined;
}

function readRange<Value>(source: LmdbSource, range: Range, at: At): Entry<Value>[] {
  assertOpen(source);
  const bounds = encodedRange(range);
  if (bounds === null) return [];
  const { limit = Number.POSITIVE_INFINITY, onDamaged } = range;
  const entries: Entry<Value>[] = [];
  try {
    for (const { key: found, value } of source.root.getRange({ ...bounds, snapshot: true, ...at })) {
      const key = toKey(found);
      if (!(value instanceof DamagedValue)) entries.push({ key, value: value as Value });
      else if (onDamaged === undefined) throw damagedRow(source.folder, key, value.cause);
      else onDamaged(key);
      if (entries.length === limit) break;
    }
  } catch (error) {
    throw readingError(error, source.folder);
  }
  return entries;
}

function assertOpen(source: LmdbSource): void {
  if (source.closed) throw new StoreError("closed", `the store in ${source.folder} is closed`);
}
