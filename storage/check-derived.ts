import { isDeepStrictEqual } from "node:util";
import { type Finding, listEntries, toKeyName } from "./finding.js";
import type { Entry, Key, Reading } from "./store.js";

/** Rows that are derived from other rows. */
export interface Derived {
  /** A description of the rows, for people. */
  readonly title: string;
  /** All derived rows that should exist. The check keeps their keys in memory. */
  readonly expected: Iterable<Entry>;
  /** Whether a row may have another value than the expected one. */
  readonly mayDiffer?: boolean;
  /** The key prefixes below which only the expected rows should exist. */
  readonly prefixes: readonly Key[];
  /**
   * Whether some source rows are damaged. The check then keeps unexpected derived rows, because they may derive from a
   * damaged row.
   */
  readonly isIncomplete: () => boolean;
}

/** Finds derived rows that are missing, different or unexpected. `reading` must treat damaged rows as missing. */
export function* checkDerived(reading: Reading, derived: Derived): Generator<Finding> {
  const { title, expected, mayDiffer = false, prefixes, isIncomplete } = derived;
  const known = new Set<string>();
  for (const { key, value } of expected) {
    known.add(toKeyName(key));
    const found = reading.get(key);
    if (mayDiffer ? found !== undefined : isDeepStrictEqual(found, value)) continue;
    const what = `${title}: ${found === undefined ? "missing" : "differs from its row"}`;
    yield { what, key, repair: [{ op: "put", key, value }] };
  }
  for (const prefix of prefixes) {
    for (const { key } of listEntries(reading, prefix)) {
      if (known.has(toKeyName(key))) continue;
      yield { what: `${title}: without its row`, key, repair: isIncomplete() ? [] : [{ op: "remove", key }] };
    }
  }
}
