import { type Key, MAX_KEY_BYTES, StoreError } from "../storage/store.js";

/** Bytes that a number, or the end of a string, takes at most in an encoded key. */
const NUMBER_BYTES = 10;
const END_BYTES = 2;

/**
 * Throws when a store would refuse the key: a part that is neither a string without NUL nor a safe integer, or too
 * many bytes. Checked where a key is made, as one bad key would fail a whole batch.
 */
export function checkKey(key: Key): void {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "number") {
      if (!Number.isSafeInteger(part) || Object.is(part, -0)) throw new TypeError(`${part} is no part of a key`);
      bytes += NUMBER_BYTES;
    } else {
      if (typeof part !== "string" || part.includes("\0"))
        throw new TypeError("a part of a key is no text without NUL");
      bytes += Buffer.byteLength(part) + END_BYTES;
    }
  }
  if (bytes > MAX_KEY_BYTES) throw new StoreError("key-too-long", `a key of ${key[0]} takes ${bytes} bytes`);
}
