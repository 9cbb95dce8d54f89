import { indexedTable } from "../tables/indexed-table.js";
import type { ReplayCheckRow } from "./check.js";
import { checkChanges } from "./check-changes.js";

/** Key: `[check]`. Check ids increase over time. */
export const replayChecks = indexedTable<ReplayCheckRow>("replay-check", {
  order: ["id"],
  changes: (check, _reading, write) => checkChanges(check, write),
  indexes: {
    "set-replay-check": ["setId"],
    "replay-check-of-change": ["stationId", "candidateRunning", "liveRunning"],
  },
});

/** Whether the check's verdict is final. */
export function isDecided({ verdict }: Pick<ReplayCheckRow, "verdict">): boolean {
  return verdict !== "running";
}
