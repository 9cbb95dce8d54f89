import { type Finding, listEntries } from "./finding.js";
import { dedupSpace, feedSpace, GLOBAL_PARTITION, rowSpace, timerSpace } from "./keys.js";
import { readPastDamage } from "./past-damage.js";
import type { Key, Reading } from "./store.js";

/**
 * The tables whose damaged rows can be removed. In addition, damaged rows of these spaces can always be removed: change
 * feeds, and the timers and processed message ids in the global partition.
 */
export interface Dispensable {
  /** Tables with rows that are derived from other rows. */
  readonly tables: ReadonlySet<string>;
}

/**
 * Finds the damaged rows of a store. The repair of a dispensable row removes the row. Other damaged rows have no
 * repair.
 */
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
