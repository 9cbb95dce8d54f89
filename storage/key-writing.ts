import { FIRST_PLAIN, LAST_PLAIN } from "./key-check.js";

/** The LMDB binding's key writer: writes a key at a position of `target` and returns the position after it. */
export type WriteKey = (key: unknown, target: Uint8Array, position: number, inSequence?: boolean) => number;

/** Minimum length, in characters, from which the binding writes a text natively. */
const LONG = 0x40;

const { charCodeAt } = String.prototype;

/**
 * Writes keys exactly as the binding does, in a third of its time. The binding looks up `charCodeAt` on the text for
 * every character. V8 is slow at that after it has seen texts in many internal forms, as in any process with varied
 * work. This writer calls a function that was looked up once for parts of plain ASCII, and leaves all other parts to
 * the binding.
 */
export function keyWriter(writeKey: WriteKey): WriteKey {
  const writePart = (part: unknown, target: Uint8Array, position: number): number => {
    if (typeof part !== "string") return writeKey(part, target, position, true);
    const { length } = part;
    if (length === 0 || length >= LONG) return writeKey(part, target, position, true);
    for (let index = 0; index < length; index++) {
      const unit = charCodeAt.call(part, index);
      if (unit < FIRST_PLAIN || unit > LAST_PLAIN) return writeKey(part, target, position, true);
      target[position + index] = unit;
    }
    return position + length;
  };
  return (key, target, position, inSequence) => {
    if (!Array.isArray(key)) return writeKey(key, target, position, inSequence);
    let end = position;
    for (let index = 0; index < key.length; index++) {
      if (index > 0) target[end++] = 0;
      end = writePart(key[index], target, end);
    }
    // The binding also writes a terminating zero, which does not count in the key's length.
    if (inSequence !== true) target[end] = 0;
    return end;
  };
}
