import { type Key, MAX_KEY_BYTES, StoreError } from "./store.js";

/** Size of a number in an encoded key, in bytes. */
const NUMBER_BYTES = 9;
/**
 * The highest UTF-16 unit that the key encoding uses for control marks. The encoding escapes such units only in short
 * strings.
 */
const LAST_MARK = 0x04;
/** A string that is empty, or whose first UTF-16 unit is below this value, is encoded with one extra leading byte. */
const FIRST_UNESCAPED = 0x1c;
/** Minimum size of an additional part: its separator and one byte. */
const MIN_PART_BYTES = 2;

/**
 * Throws if no store can hold the key:
 *
 * - a `TypeError`, if the key has no parts
 * - a `TypeError`, if a part is neither a safe integer (not -0) nor well-formed text without U+0000 to U+0004
 * - a {@link StoreError} `key-too-long`, if the key is too long
 */
export function checkKey(key: Key): void {
  const bytes = findBytes(key);
  if (bytes === null)
    throw new TypeError(`${JSON.stringify(key)} is not a valid key: its parts must be text or integers`);
  if (bytes > MAX_KEY_BYTES) throw new StoreError("key-too-long", `a key of ${key[0]} takes ${bytes} bytes`);
}

/** Whether a store can hold the key. Reads find nothing under any other key. */
export function isKey(key: Key): boolean {
  const bytes = findBytes(key);
  return bytes !== null && bytes <= MAX_KEY_BYTES;
}

/** Whether a store can hold longer keys that start with this key. */
export function isExtensible(key: Key): boolean {
  const bytes = findBytes(key);
  return bytes !== null && bytes + MIN_PART_BYTES <= MAX_KEY_BYTES;
}

/**
 * Returns the length of the encoded key in bytes; null if the key has no parts, or a part that could not be read back
 * unchanged.
 */
function findBytes(key: Key): number | null {
  if (key.length === 0) return null;
  let bytes = key.length - 1;
  for (let at = 0; at < key.length; at++) {
    const part = key[at];
    if (at < CACHED_PARTS && part === cachedTexts[at] && part !== undefined) {
      bytes += cachedBytes[at] ?? 0;
      continue;
    }
    const more = typeof part === "number" ? bytesOfNumber(part) : bytesOfText(part);
    if (more === null) return null;
    bytes += more;
    if (at >= CACHED_PARTS || typeof part !== "string") continue;
    cachedTexts[at] = part;
    cachedBytes[at] = more;
  }
  return bytes;
}

/**
 * Cache of the last valid texts in the first parts of keys, and of their sizes. Keys that are checked together often
 * start with the same parts.
 */
const CACHED_PARTS = 3;
const cachedTexts: string[] = [];
const cachedBytes: number[] = [];

function bytesOfNumber(part: number): number | null {
  return Number.isSafeInteger(part) && !Object.is(part, -0) ? NUMBER_BYTES : null;
}

/** The range of UTF-16 units that the key encoding writes unchanged, one byte each. */
export const FIRST_PLAIN = 0x20;
export const LAST_PLAIN = 0x7e;

// Look up the function only once, because V8 can be slow at this lookup (see `keyWriter` in `lmdb-values.ts`).
const { charCodeAt } = String.prototype;

/** Whether a text takes one byte per character. This is true for most keys. */
function isPlain(text: string): boolean {
  const { length } = text;
  for (let index = 0; index < length; index++) {
    const unit = charCodeAt.call(text, index);
    if (unit < FIRST_PLAIN || unit > LAST_PLAIN) return false;
  }
  return length > 0;
}

function bytesOfText(part: string | undefined): number | null {
  if (typeof part !== "string") return null;
  if (isPlain(part)) return part.length;
  let bytes = part.length > 0 && part.charCodeAt(0) >= FIRST_UNESCAPED ? 0 : 1;
  for (let index = 0; index < part.length; index++) {
    const unit = part.charCodeAt(index);
    if (unit <= LAST_MARK) return null;
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else {
      const low = part.charCodeAt(++index);
      if (unit > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) return null;
      bytes += 4;
    }
  }
  return bytes;
}
