import { type Key, MAX_KEY_BYTES, StoreError } from "./store.js";

/** What a number takes in an encoded key, in bytes. */
const NUMBER_BYTES = 9;
/** Units up to here are marks of the key encoding, which escapes them in short strings only. */
const LAST_MARK = 0x04;
/** A string that begins with a unit below this one (or is empty) gets a byte before it. */
const FIRST_UNESCAPED = 0x1c;
/** What one part more takes at least: its separator and a byte. */
const MIN_PART_BYTES = 2;

/**
 * Throws when no store can hold the key: `TypeError` for a part that is neither a safe integer (no -0) nor
 * well-formed text without U+0000 to U+0004, or for no part at all; a {@link StoreError} `key-too-long`.
 */
export function checkKey(key: Key): void {
  const bytes = bytesOf(key);
  if (bytes === null) throw new TypeError(`${JSON.stringify(key)} is no key: a part is neither text nor an integer`);
  if (bytes > MAX_KEY_BYTES) throw new StoreError("key-too-long", `a key of ${key[0]} takes ${bytes} bytes`);
}

/** Whether a store can hold the key; nothing is found under one that it cannot. */
export function isKey(key: Key): boolean {
  const bytes = bytesOf(key);
  return bytes !== null && bytes <= MAX_KEY_BYTES;
}

/** Whether a key with more parts below this one can be held. */
export function hasRoomBelow(key: Key): boolean {
  const bytes = bytesOf(key);
  return bytes !== null && bytes + MIN_PART_BYTES <= MAX_KEY_BYTES;
}

/** Length of the encoded key in bytes, or null when a part cannot be encoded so that it is read back unchanged. */
function bytesOf(key: Key): number | null {
  if (key.length === 0) return null;
  let bytes = key.length - 1;
  for (const part of key) {
    const more = typeof part === "number" ? bytesOfNumber(part) : bytesOfText(part);
    if (more === null) return null;
    bytes += more;
  }
  return bytes;
}

function bytesOfNumber(part: number): number | null {
  return Number.isSafeInteger(part) && !Object.is(part, -0) ? NUMBER_BYTES : null;
}

/** Text that takes a byte a unit, as most keys are made of. */
const PLAIN = /^[\x20-\x7e]+$/;

function bytesOfText(part: string): number | null {
  if (typeof part !== "string") return null;
  if (PLAIN.test(part)) return part.length;
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
