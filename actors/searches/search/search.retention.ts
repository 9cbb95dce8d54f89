import { replays } from "../../replays/replay/replay.table.js";
import { retain } from "../../tables/retention.js";
import { searchRef } from "./search.messages.js";
import { searches } from "./search.table.js";

/** The retention of ended searches. Their replays stay with their sets, under the replays' own retention. */
export const searchRetention = retain(searches, {
  period: "work",
  after: [replays.name],
  // The search's iterations and candidates are removed in the same turn.
  cost: 120,
  startedAtMs: ({ startedAt }) => Date.parse(startedAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  remove: (turn, { id }) => {
    turn.send(searchRef(turn.self.partition, id), { type: "search.forget" });
    return true;
  },
});
