import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { ReplayCheckRow } from "./check.js";
import { replayCheckRef } from "./check.messages.js";
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

/** The retention of ended checks and their results. A check may outlive its replays and its set. */
export const replayCheckRetention = retain(replayChecks, {
  period: "work",
  after: ["search"],
  startedAtMs: ({ createdAt }) => Date.parse(createdAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  remove: (turn, { id }) => {
    turn.send(replayCheckRef(turn.self.partition, id), { type: "check.forget" });
    return true;
  },
});
