import { type Finding, listEntries } from "./finding.js";
import { dedupSpace, feedSpace, GLOBAL_PARTITION, rowSpace, timerSpace } from "./keys.js";
import { readPastDamage } from "./past-damage.js";
import type { Key, Reading } from "./store.js";

/** Which rows can be done without: derived ones are written again from others, the feed's readers begin anew. */
export interface Dispensable {
  /** Tables whose rows are derived from other rows. */
  readonly tables: ReadonlySet<string>;
}

/** The damaged rows of a store. Those that can be done without are removed by their repair. */
export function checkValues(reading: Reading, { tables }: Dispensable): Finding[] {
  const findings: Finding[] = [];
  const found = (key: Key): void => {
    const isDispensable = isOfTheRuntime(key) || (key[1] === rowSpace && tables.has(String(key[2])));
    findings.push({
      what: isDispensable ? "a damaged row that can be done without" : "a damaged row: only a backup has it",
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
