import type { Change, Entry, Key, Reading } from "./store.js";

/** A fault in a store, and the changes that repair it. There are no changes if no repair is possible. */
export interface Finding {
  /** What is wrong, for people. All findings of one kind have the same text. */
  readonly what: string;
  /** The key of the row. Show only the parts of the key that cannot be secret. */
  readonly key: Key;
  readonly repair: readonly Change[];
}

/** Maximum number of entries to read at once. An entry may have several megabytes. */
const SLICE = 64;

/** Returns all entries below a prefix, in key order. */
export function* listEntries<Value>(reading: Reading, prefix: Key): Generator<Entry<Value>> {
  for (let after: Key | undefined; ; ) {
    const entries = reading.range<Value>({ prefix, after, limit: SLICE });
    yield* entries;
    after = entries.at(-1)?.key;
    if (after === undefined || entries.length < SLICE) return;
    // `after` also skips the keys that start with the last key, so read those keys separately.
    yield* reading.range<Value>({ prefix: after });
  }
}

/** Returns a string that is unique per key. */
export function toKeyName(key: Key): string {
  return JSON.stringify(key);
}
