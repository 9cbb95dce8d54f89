import type { Key } from "./store.js";

/** Compares keys in the order of every store: part by part, numbers before strings, strings by their UTF-8 bytes. */
export function compareKeys(left: Key, right: Key): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const a = left[index] ?? "";
    const b = right[index] ?? "";
    if (a === b) continue;
    if (typeof a === "number") return typeof b === "number" ? a - b : -1;
    return typeof b === "number" ? 1 : compareText(a, b);
  }
  return left.length - right.length;
}

// Look up the function only once, because V8 can be slow at this lookup (see `keyWriter` in `lmdb-values.ts`).
const { charCodeAt } = String.prototype;

/**
 * Compares texts by code point, as UTF-8 does. UTF-16 units sort differently only for surrogates, which are below
 * U+E000.
 */
function compareText(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const a = charCodeAt.call(left, index);
    const b = charCodeAt.call(right, index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
