import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";

const workspaceId = "ws_1";

function task(n: number, assignee: string | null): TaskRow {
  return {
    id: `task_${n}`,
    teamId: "team_1",
    lineId: `line_${n % 2}`,
    title: "",
    description: "",
    url: "",
    station: "work",
    state: "inbox",
    assignee,
    openedBy: { kind: "person", userId: "usr_1" },
    marks: {},
    pullRequest: null,
    runId: null,
    asks: null,
    failure: null,
    openedAt: "",
    movedAt: "",
  };
}

t.test("tasks of the first format are migrated to the declared indexes, and to no others", async (t) => {
  const all = [task(1, null), task(2, "usr_1"), task(3, "usr_2")];
  const then: Entry[] = all.flatMap((row) => [
    { key: [workspaceId, "row", "task", row.id], value: row },
    { key: [workspaceId, "row", "open-task", row.lineId, row.station, row.id], value: true },
    { key: [workspaceId, "row", "team-task", row.teamId, row.id], value: true },
    { key: [workspaceId, "row", "team-task-by", row.teamId, `[["state","${row.state}"]]`, row.id], value: true },
    { key: [workspaceId, "row", "team-task-by", row.teamId, `[["lineId","${row.lineId}"]]`, row.id], value: true },
  ]);
  const step = migrations.find(({ to }) => to === 2);
  if (step === undefined) throw new Error("there is no step to format 2");
  const rows = memoryRows();
  for (const row of all) tasks.insert(rows, workspaceId, row);
  const now = (await stepped(step, then)).filter(({ key }) => key[0] === workspaceId);
  t.same(now, rows.range({ prefix: [workspaceId] }));
});
