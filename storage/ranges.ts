import type { Entry, Key, Range } from "./store.js";

/** Sorts after every key part of ours: what ends a range over everything below a key. */
const PAST_ALL = Buffer.from([0xff]);

type Bound = (string | number | Buffer)[];

/** A range as LMDB takes it. */
export interface EncodedRange {
  readonly start: Bound;
  readonly end: Bound;
  readonly reverse: boolean;
  readonly limit?: number;
  readonly exclusiveStart: boolean;
}

/** Whether `key` begins with every part of `prefix`. */
export function isBelow(key: Key, prefix: Key): boolean {
  return key.length >= prefix.length && prefix.every((part, index) => key[index] === part);
}

/**
 * The bounds of a range, or undefined when it can hold nothing. The lower bound is below `after` and everything
 * under it; the upper bound is `before`; both stay within the prefix.
 */
export function encodedRange(range: Range): EncodedRange | undefined {
  if (range.limit === 0) return undefined;
  for (const bound of [range.after, range.before]) {
    if (bound !== undefined && !isBelow(bound, range.prefix))
      throw new Error("a bound lies outside its range's prefix");
  }
  const from: Bound = range.after === undefined ? [...range.prefix] : [...range.after, PAST_ALL];
  const to: Bound = range.before === undefined ? [...range.prefix, PAST_ALL] : [...range.before];
  const limit = range.limit === undefined ? {} : { limit: range.limit };
  return range.reverse === true
    ? { start: to, end: from, reverse: true, exclusiveStart: true, ...limit }
    : { start: from, end: to, reverse: false, exclusiveStart: true, ...limit };
}

/** Collects what a range yields. */
export function toEntries<Value>(found: Iterable<{ key: Key; value: unknown }>): Entry<Value>[] {
  const entries: Entry<Value>[] = [];
  for (const { key, value } of found) entries.push({ key, value: value as Value });
  return entries;
}
