import { isDamage, type Key, type Range, type Reading } from "./store.js";

/**
 * Returns a reading in which damaged entries are absent. Calls `onDamaged` with the keys of these entries, unless the
 * range of a read has its own `onDamaged`.
 */
export function readPastDamage(reading: Reading, onDamaged: (key: Key) => void = () => undefined): Reading {
  return {
    get: <Value>(key: Key) => {
      try {
        return reading.get<Value>(key);
      } catch (error) {
        if (!isDamage(error)) throw error;
        onDamaged(key);
        return undefined;
      }
    },
    range: <Value>(range: Range) => reading.range<Value>({ ...range, onDamaged: range.onDamaged ?? onDamaged }),
  };
}
