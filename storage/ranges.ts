import { checkKey, isExtensible } from "./key-check.js";
import type { Key, Range } from "./store.js";

/** Sorts after every key part. It ends a range over everything below a key. */
const PAST_ALL = Buffer.from([0xff]);
/** Sorts before every key part, and after the symbols that LMDB's binding uses as keys of its own records. */
const BEFORE_ALL = Buffer.from([0x03]);

type Bound = (string | number | Buffer)[];

/** A range in the form that LMDB accepts. */
export interface EncodedRange {
  readonly start: Bound;
  readonly end: Bound;
  readonly reverse: boolean;
  readonly limit?: number;
  readonly exclusiveStart: boolean;
}

/** Whether `key` starts with every part of `prefix`. */
export function isBelow(key: Key, prefix: Key): boolean {
  return key.length >= prefix.length && prefix.every((part, index) => key[index] === part);
}

/**
 * Whether a range can contain entries. False if no longer key can start with its prefix. Throws if `after` or `before`
 * is not a valid key or is outside the prefix, which is an error of the caller.
 */
export function canHold({ prefix, after, before, limit }: Range): boolean {
  for (const bound of [after, before]) {
    if (bound === undefined) continue;
    if (!isBelow(bound, prefix)) throw new Error("a bound lies outside its range's prefix");
    checkKey(bound);
  }
  return limit !== 0 && (prefix.length === 0 || isExtensible(prefix));
}

/**
 * Returns the bounds of a range; null if the range cannot contain entries. The lower bound skips `after` and every key
 * that starts with `after`. The upper bound is `before`. Both bounds are within the prefix.
 */
export function encodedRange(range: Range): EncodedRange | null {
  if (!canHold(range)) return null;
  const from: Bound =
    range.after !== undefined
      ? pastAllBelow(range.after)
      : range.prefix.length === 0
        ? [BEFORE_ALL]
        : [...range.prefix];
  const to: Bound = range.before === undefined ? [...range.prefix, PAST_ALL] : [...range.before];
  // Damaged entries do not count against the limit.
  const limit = range.limit === undefined || range.onDamaged !== undefined ? {} : { limit: range.limit };
  return range.reverse === true
    ? { start: to, end: from, reverse: true, exclusiveStart: true, ...limit }
    : { start: from, end: to, reverse: false, exclusiveStart: true, ...limit };
}

function pastAllBelow(key: Key): Bound {
  return isExtensible(key) ? [...key, PAST_ALL] : [...key];
}
