import type { Station, StationBlock } from "../lines/station.js";
import { canonicalJson } from "../resources/canonical-json.js";
import type { Warning } from "../resources/kind.js";

type Compared = "check" | "judge" | "timeoutMinutes" | "diffs" | "runners";

/** What follows when a candidate has another value than the live station. */
const consequences: readonly [field: Compared, follows: string][] = [
  ["check", "its copies are scored otherwise than the baseline's"],
  ["judge", "its copies are scored otherwise than the baseline's"],
  ["timeoutMinutes", "its copies have another time to work than the baseline's"],
  ["diffs", "its copies work and are scored the same, under another fingerprint"],
  ["runners", "its copies may run on other runners than the baseline's"],
];

/**
 * Warnings of a candidate for what makes a comparison with the baseline about something else than how the agent works: a
 * field that is easily forgotten in a block, as it is in the station now.
 */
export function candidateWarnings(block: StationBlock, live: Station): readonly Warning[] {
  return consequences.flatMap(([field, follows]) => {
    if (canonicalJson(block[field]) === canonicalJson(live[field])) return [];
    return [
      { path: `station.${field}`, message: `${difference(block, live, field)}: ${follows}`, severity: "warning" },
    ];
  });
}

function difference(block: StationBlock, live: Station, field: Compared): string {
  if (block[field] === null) return `the live station has a ${field}, this block has none`;
  if (live[field] === null) return `the live station has no ${field}, this block has one`;
  return "differs from the live station's";
}
