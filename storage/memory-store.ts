import { Packr } from "msgpackr";
import { checkChange } from "./change-check.js";
import { isKey } from "./key-check.js";
import { compareKeys } from "./key-order.js";
import { canHold, isBelow } from "./ranges.js";
import {
  type Change,
  type Entry,
  type Key,
  type Range,
  type Reading,
  type Store,
  StoreError,
  type View,
} from "./store.js";
import { storeError } from "./store-errors.js";

/** Values are packed, so that every read returns a separate copy. */
const packr = new Packr({ useRecords: false, copyBuffers: true, useBigIntExtension: true });

interface Row {
  readonly key: Key;
  readonly bytes: Buffer;
}

/** Creates a store in memory, for tests. It has the order and consistency of the store on disk, but is not durable. */
export function createMemoryStore(): Store {
  let rows: readonly Row[] = [];
  let closed = false;
  let failure: StoreError | null = null;
  const reader = (at: () => readonly Row[], isClosed: () => boolean): Reading => {
    const open = () => {
      if (isClosed()) throw closedError();
      return at();
    };
    return {
      get: <Value>(key: Key) => get<Value>(open(), key),
      range: <Value>(range: Range) => select<Value>(open(), range),
    };
  };
  return {
    reading: reader(
      () => rows,
      () => closed,
    ),
    commit: async (changes) => {
      if (failure !== null) throw failure;
      try {
        rows = apply(rows, changes);
      } catch (error) {
        failure = storeError(error, "memory");
        throw failure;
      }
    },
    view: (): View => {
      if (closed) throw closedError();
      const then = rows;
      let done = false;
      const reading = reader(
        () => then,
        () => closed || done,
      );
      return {
        ...reading,
        close: () => {
          done = true;
        },
      };
    },
    backup: async () => {
      throw closed ? closedError() : new StoreError("failed", "a store in memory cannot be copied to a folder");
    },
    close: async () => {
      closed = true;
      failure = closedError();
    },
  };
}

function closedError(): StoreError {
  return new StoreError("closed", "the store in memory is closed");
}

function get<Value>(rows: readonly Row[], key: Key): Value | undefined {
  if (!isKey(key)) return undefined;
  const { index, found } = find(rows, key);
  const row = found ? rows[index] : undefined;
  return row === undefined ? undefined : (packr.unpack(row.bytes) as Value);
}

function apply(rows: readonly Row[], changes: readonly Change[]): readonly Row[] {
  const next = [...rows];
  for (const change of changes) {
    checkChange(change);
    const { index, found } = find(next, change.key);
    if (change.op === "put")
      next.splice(index, found ? 1 : 0, { key: [...change.key], bytes: packr.pack(change.value) });
    else if (found) next.splice(index, 1);
  }
  return next;
}

function find(rows: readonly Row[], key: Key): { readonly index: number; readonly found: boolean } {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && compareKeys(row.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  const row = rows[low];
  return { index: low, found: row !== undefined && compareKeys(row.key, key) === 0 };
}

function select<Value>(rows: readonly Row[], range: Range): Entry<Value>[] {
  if (!canHold(range)) return [];
  const { prefix, after, before } = range;
  const fits = ({ key }: Row) =>
    key.length > prefix.length &&
    isBelow(key, prefix) &&
    (after === undefined || (compareKeys(key, after) > 0 && !isBelow(key, after))) &&
    (before === undefined || compareKeys(key, before) < 0);
  const found: Entry<Value>[] = [];
  const begin = find(rows, prefix).index;
  for (let index = begin; index < rows.length; index++) {
    const row = rows[index];
    if (row === undefined || (row.key.length >= prefix.length && !isBelow(row.key, prefix))) break;
    if (fits(row)) found.push({ key: row.key, value: packr.unpack(row.bytes) as Value });
    if (range.reverse !== true && found.length === range.limit) break;
  }
  const ordered = range.reverse === true ? found.reverse() : found;
  return range.limit === undefined ? ordered : ordered.slice(0, range.limit);
}
