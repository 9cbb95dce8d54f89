import { pack, unpack } from "msgpackr";
import { compareKeys } from "./key-order.js";
import { checkBounds, isBelow } from "./ranges.js";
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

interface Row {
  readonly key: Key;
  readonly bytes: Buffer;
}

/** A store that keeps its rows in memory, for tests: ordered and consistent as the one on disk, durable for nothing. */
export function createMemoryStore(): Store {
  let rows: readonly Row[] = [];
  let closed = false;
  const assertOpen = () => {
    if (closed) throw new StoreError("closed", "the store in memory is closed");
  };
  const reader = (at: () => readonly Row[]): Reading => ({
    get: <Value>(key: Key) => {
      const { index, found } = find(at(), key);
      const row = found ? at()[index] : undefined;
      return row === undefined ? undefined : (unpack(row.bytes) as Value);
    },
    range: <Value>(range: Range) => select<Value>(at(), range),
  });
  return {
    reading: reader(() => rows),
    commit: async (changes) => {
      assertOpen();
      rows = apply(rows, changes);
    },
    view: (): View => {
      const then = rows;
      return { ...reader(() => then), close: () => undefined };
    },
    backup: async () => {
      throw new StoreError("failed", "a store in memory has no folder to copy");
    },
    close: async () => {
      closed = true;
    },
  };
}

function apply(rows: readonly Row[], changes: readonly Change[]): readonly Row[] {
  const next = [...rows];
  for (const change of changes) {
    const { index, found } = find(next, change.key);
    if (change.op === "put") next.splice(index, found ? 1 : 0, { key: [...change.key], bytes: pack(change.value) });
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
  checkBounds(range);
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
    if (fits(row)) found.push({ key: row.key, value: unpack(row.bytes) as Value });
    if (range.reverse !== true && found.length === range.limit) break;
  }
  const ordered = range.reverse === true ? found.reverse() : found;
  return range.limit === undefined ? ordered : ordered.slice(0, range.limit);
}
