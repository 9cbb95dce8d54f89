import { checkKey, hasRoomBelow } from "./key-check.js";
import type { Key, Range } from "./store.js";

/** Sorts after every key part: the end of a range over everything below a key. */
const PAST_ALL = Buffer.from([0xff]);
/** Sorts before every key part, and after the symbols under which LMDB's binding keeps its own records. */
const BEFORE_ALL = Buffer.from([0x03]);

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
 * Whether a range can contain anything; false when its prefix cannot begin a key. Throws when `after` or `before` is no
 * key or is outside the prefix, which is a mistake of the caller.
 */
export function canHold({ prefix, after, before, limit }: Range): boolean {
  for (const bound of [after, before]) {
    if (bound === undefined) continue;
    if (!isBelow(bound, prefix)) throw new Error("a bound lies outside its range's prefix");
    checkKey(bound);
  }
  return limit !== 0 && (prefix.length === 0 || hasRoomBelow(prefix));
}

/**
 * The bounds of a range, or null when it can contain nothing. The lower bound skips `after` and every key that begins
 * with it; the upper bound is `before`. Both are within the prefix.
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
  return hasRoomBelow(key) ? [...key, PAST_ALL] : [...key];
}
