import type { Change, Entry, Key, Reading } from "./store.js";

/** Something that is wrong in a store, and the changes that put it right; none when nothing can. */
export interface Finding {
  /** What is wrong, for people; the same for all findings of its kind. */
  readonly what: string;
  /** Where: the key of a row. Only parts of it that cannot be secret may be shown. */
  readonly key: Key;
  readonly repair: readonly Change[];
}

/** Entries read at once: bodies of megabytes may be among them. */
const SLICE = 64;

/** All entries below a prefix, in key order. */
export function* listEntries<Value>(reading: Reading, prefix: Key): Generator<Entry<Value>> {
  for (let after: Key | undefined; ; ) {
    const entries = reading.range<Value>({ prefix, after, limit: SLICE });
    yield* entries;
    after = entries.at(-1)?.key;
    if (after === undefined || entries.length < SLICE) return;
    // The next slice begins after all keys that begin with this one.
    yield* reading.range<Value>({ prefix: after });
  }
}

/** Unique among keys. */
export function toKeyName(key: Key): string {
  return JSON.stringify(key);
}
