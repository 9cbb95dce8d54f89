import { type Finding, listEntries } from "./finding.js";
import { dedupSpace, feedSpace, GLOBAL_PARTITION, rowSpace, timerSpace } from "./keys.js";
import { readPastDamage } from "./past-damage.js";
import type { Key, Reading } from "./store.js";

/**
 * The tables whose damaged rows can be removed. Damaged rows of change feeds can always be removed, and so can those of
 * wake-ups and deduplication in the global partition.
 */
export interface Dispensable {
  /** Tables with rows that are derived from other rows. */
  readonly tables: ReadonlySet<string>;
}

/** Finds the damaged rows of a store. For dispensable rows, the repair removes them. */
export function checkValues(reading: Reading, { tables }: Dispensable): Finding[] {
  const findings: Finding[] = [];
  const found = (key: Key): void => {
    const isDispensable = isOfTheRuntime(key) || (key[1] === rowSpace && tables.has(String(key[2])));
    findings.push({
      what: isDispensable ? "a damaged row that can be removed" : "a damaged row: restore it from a backup",
      key,
      repair: isDispensable ? [{ op: "remove", key }] : [],
    });
  };
  const entries = listEntries(readPastDamage(reading, found), []);
  while (entries.next().done !== true);
  return findings;
}

function isOfTheRuntime([partition, space]: Key): boolean {
  return space === feedSpace || (partition === GLOBAL_PARTITION && (space === timerSpace || space === dedupSpace));
}
