import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { TaskRow, TaskState } from "../../../actors/tasks/task.table.js";
import { listTeamTasks, putTask, type TaskFilter } from "../../../actors/tasks/task-index.table.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import type { Change, Reading, Writing } from "../../../storage/store.js";
import { countingReading } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const states: readonly TaskState[] = ["queued", "running", "inbox", "done", "closed"];
const people = [null, "usr_1", "usr_2"];

/** The n-th of many tasks: every mix of state, line, station and assignee comes up, in no order. */
function task(n: number, more: Partial<TaskRow> = {}): TaskRow {
  const pick = <One>(from: readonly One[], salt: number): One => from[(n * 7 + salt * n) % from.length] as One;
  return {
    ...{ id: `task_${String(n).padStart(6, "0")}`, teamId, lineId: pick(["line_1", "line_2"], 1), title: "" },
    ...{ description: "", url: "", station: pick(["work", "review", "ship"], 2), state: pick(states, 3) },
    ...{ assignee: pick(people, 5), openedBy: { kind: "person", userId: "usr_1" }, marks: {}, pullRequest: null },
    ...{ runId: null, asks: null, failure: null, openedAt: "", movedAt: "", ...more },
  };
}

const filters: readonly TaskFilter[] = [undefined, "inbox" as const].flatMap((state) =>
  [undefined, "line_2"].flatMap((lineId) =>
    [undefined, "review"].flatMap((station) =>
      [undefined, null, "usr_2"].map((assignee) => ({ state, lineId, station, assignee })),
    ),
  ),
);

/** A reading of the tasks, all written in one batch. */
async function stored(t: Test, all: readonly TaskRow[]): Promise<Reading> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-tasks-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const changes: Change[] = [];
  const writing: Writing = {
    get: (key) => store.reading.get(key),
    range: (range) => store.reading.range(range),
    put: (key, value) => changes.push({ op: "put", key, value }),
    remove: (key) => changes.push({ op: "remove", key }),
  };
  for (const one of all) putTask(writing, workspaceId, one);
  await store.commit(changes);
  return store.reading;
}

const fits = (one: TaskRow, filter: TaskFilter) =>
  Object.entries(filter).every(([name, value]) => value === undefined || one[name as keyof TaskFilter] === value);

t.test("a page of a team with 10,000 tasks reads only what it shows, whatever it is narrowed by", async (t) => {
  const all = Array.from({ length: 10_000 }, (_, n) => task(n));
  const rows = countingReading(await stored(t, all));
  for (const filter of filters) {
    const wanted = all.filter((one) => fits(one, filter)).reverse();
    rows.reset();
    const first = listTeamTasks(rows, { workspaceId, teamId }, filter, { limit: 20 });
    t.same(first, wanted.slice(0, 20), JSON.stringify(filter));
    const before = first.at(-1)?.id;
    t.same(listTeamTasks(rows, { workspaceId, teamId }, filter, { before, limit: 20 }), wanted.slice(20, 40));
    t.ok(rows.read <= 2 * (first.length + 20), `${rows.read} rows were read for ${first.length} and as many again`);
  }
});

t.test("a task is found by what it is now, not by what it was", async (t) => {
  const rows = memoryRows();
  const find = (filter: TaskFilter) =>
    listTeamTasks(rows, { workspaceId, teamId }, filter, { limit: 10 }).map(({ id }) => id);
  const one = task(1, { state: "queued", assignee: null, station: "work" });
  putTask(rows, workspaceId, one);
  putTask(rows, workspaceId, { ...one, state: "inbox" });
  putTask(rows, workspaceId, { ...one, state: "inbox", assignee: "usr_2", station: "review" });
  for (const filter of [{ state: "queued" as const }, { assignee: null }, { station: "work" }])
    t.same(find(filter), []);
  t.same(find({ state: "inbox", assignee: "usr_2", station: "review", lineId: one.lineId }), [one.id]);
  t.same(find({}), [one.id]);
});
