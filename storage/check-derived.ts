import { isDeepStrictEqual } from "node:util";
import { type Finding, listEntries, toKeyName } from "./finding.js";
import type { Entry, Key, Reading } from "./store.js";

/** Rows that follow from others. */
export interface Derived {
  /** What they are, for people. */
  readonly title: string;
  /** All rows that there should be. Their keys are held in memory. */
  readonly expected: Iterable<Entry>;
  /** Whether a row may have another value than is expected. */
  readonly mayDiffer?: boolean;
  /** Under these prefixes there should be no others. */
  readonly prefixes: readonly Key[];
  /** Whether rows that they follow from are damaged: those that seem too many may be theirs, and stay. */
  readonly isIncomplete: () => boolean;
}

/** Where derived rows are missing, differ, or are too many. Damaged ones count as missing in `reading`. */
export function* checkDerived(reading: Reading, derived: Derived): Generator<Finding> {
  const { title, expected, mayDiffer = false, prefixes, isIncomplete } = derived;
  const known = new Set<string>();
  for (const { key, value } of expected) {
    known.add(toKeyName(key));
    const found = reading.get(key);
    if (mayDiffer ? found !== undefined : isDeepStrictEqual(found, value)) continue;
    const what = `${title}: ${found === undefined ? "missing" : "not what its row says"}`;
    yield { what, key, repair: [{ op: "put", key, value }] };
  }
  for (const prefix of prefixes) {
    for (const { key } of listEntries(reading, prefix)) {
      if (known.has(toKeyName(key))) continue;
      yield { what: `${title}: without its row`, key, repair: isIncomplete() ? [] : [{ op: "remove", key }] };
    }
  }
}
