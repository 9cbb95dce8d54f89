import { FIRST_PLAIN, LAST_PLAIN } from "./key-check.js";

/** The binding's writer of keys: writes a key at a position of `target`, and returns the position behind it. */
export type WriteKey = (key: unknown, target: Uint8Array, position: number, inSequence?: boolean) => number;

/** Characters from which on the binding has a text written natively. */
const LONG = 0x40;

const { charCodeAt } = String.prototype;

/**
 * Writes keys as the binding does, in a third of its time. The binding looks `charCodeAt` up in a text for each of its
 * characters, and V8 is slow at that where it has seen texts in many forms, as in any process that does more than one
 * thing. Here parts of plain ASCII are written with a function that was looked up once; the binding writes all else.
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
    // The binding ends a key so, outside its length.
    if (inSequence !== true) target[end] = 0;
    return end;
  };
}
