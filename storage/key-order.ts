import type { Key } from "./store.js";

/** The order of keys in every store: part by part, numbers before strings, strings by their bytes in UTF-8. */
export function compareKeys(left: Key, right: Key): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const a = left[index];
    const b = right[index];
    if (a === b) continue;
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return Buffer.compare(Buffer.from(a ?? ""), Buffer.from(b ?? ""));
  }
  return left.length - right.length;
}
