import type { Station, StationBlock } from "../../lines/station.js";
import { canonicalJson } from "../../resources/canonical-json.js";
import type { Warning } from "../../resources/kind.js";

type Compared = "check" | "judge" | "timeoutMinutes" | "diffs" | "runners";

/** The consequence of each field whose value differs between candidate and live station. */
const consequences: readonly [field: Compared, follows: string][] = [
  ["check", "its copies are scored differently from the baseline's"],
  ["judge", "its copies are scored differently from the baseline's"],
  ["timeoutMinutes", "its copies have a different time limit from the baseline's"],
  ["diffs", "its copies run and are scored the same, with a different fingerprint"],
  ["runners", "its copies may run on different runners from the baseline's"],
];

/**
 * Lists warnings about a candidate that make its comparison with the baseline less about the agent's work. Each warning
 * is for a field whose value in the block differs from the live station's current value.
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
  if (block[field] === null) return `the live station has a ${field}, this block does not`;
  if (live[field] === null) return `the live station has no ${field}, this block does`;
  return "differs from the live station's";
}
