import type { PublishingWriting } from "../../actors/tables/on-write.js";
import type { Range, Reading, Writing } from "../../storage/store.js";

/** Number of rows read since the last reset. */
interface Count {
  readonly read: number;
  reset(): void;
}

/**
 * Returns a reading that counts the rows it returns. A lookup of one row counts as one, even if the row does not exist.
 */
export function countingReading(under: Reading): Reading & Count {
  let read = 0;
  return {
    get: (key) => {
      read += 1;
      return under.get(key);
    },
    range: <Value>(range: Range) => {
      const found = under.range<Value>(range);
      read += found.length;
      return found;
    },
    get read() {
      return read;
    },
    reset: () => {
      read = 0;
    },
  };
}

/** Like {@link countingReading}, for rows that tests also write. */
export function countingRows(under: Writing): PublishingWriting & Count {
  const counting = countingReading(under);
  return {
    get: (key) => counting.get(key),
    range: (range) => counting.range(range),
    put: (key, value) => under.put(key, value),
    remove: (key) => under.remove(key),
    publishRow: () => undefined,
    get read() {
      return counting.read;
    },
    reset: () => counting.reset(),
  };
}
