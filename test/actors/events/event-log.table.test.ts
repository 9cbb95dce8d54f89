import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import { MAX_EVENTS_KEPT } from "../../../actors/events/catalogue.js";
import { findEvent, listLatestEvents } from "../../../actors/events/event-log.queries.js";
import { recordEvent } from "../../../actors/events/event-log.table.js";
import { memoryRows } from "../../support/turn.js";

const event = (n: number, teamId = "team_1"): WorkEvent => ({
  ...{ on: "task.opened", workspaceId: "ws_1", teamId, lineId: "line_1", stationId: "sta_1", run: null, causes: [] },
  occurrence: `occ_${String(n).padStart(6, "0")}`,
  task: { id: `task_${n % 3}` } as WorkEvent["task"],
  event: { at: "" },
});

t.test("of each team the latest thousand events are kept", async (t) => {
  const rows = memoryRows();
  const more = 25;
  for (let n = 0; n < MAX_EVENTS_KEPT + more; n++) recordEvent(rows, event(n));
  recordEvent(rows, event(0, "team_2"));
  const team = { workspaceId: "ws_1", teamId: "team_1" };
  const all = listLatestEvents(rows, team, { limit: MAX_EVENTS_KEPT * 2 });
  t.equal(all.length, MAX_EVENTS_KEPT);
  t.same([all[0], all.at(-1)], [event(MAX_EVENTS_KEPT + more - 1), event(more)]);
  t.equal(findEvent(rows, "ws_1", "team_1", event(more - 1).occurrence), undefined);
  t.same(findEvent(rows, "ws_1", "team_1", event(more).occurrence), event(more));
  t.same(findEvent(rows, "ws_1", "team_2", event(0).occurrence), event(0, "team_2"));
  const ofOne = listLatestEvents(rows, team, { task: "task_1", limit: 10 });
  t.same(
    ofOne.map(({ task }) => task.id),
    Array(10).fill("task_1"),
  );
});
