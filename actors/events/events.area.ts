import { defineArea } from "../area.js";
import { callCounts, callEventRetention, counts, eventRetention, oldest, oldestCalls } from "./event-log.table.js";

/** The latest work events of each team, which hooks handle. */
export const eventsArea = defineArea({
  name: "events",
  tables: [eventRetention, counts, oldest, callEventRetention, callCounts, oldestCalls],
});
