import { retain } from "../tables/retention.js";
import { replayCheckRef } from "./check.messages.js";
import { replayChecks } from "./check.table.js";

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
