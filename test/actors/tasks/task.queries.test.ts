import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { CountingWriting } from "../../../actors/tables/blobs.js";
import type { PublishingWriting } from "../../../actors/tables/on-write.js";
import type { Cursor, Slice } from "../../../actors/tables/page-source.js";
import type { TaskRow, TaskState } from "../../../actors/tasks/task.js";
import { listTeamTasks, type TaskFilter } from "../../../actors/tasks/task.queries.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import type { Change, Reading } from "../../../storage/store.js";
import { countingReading } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const states: readonly TaskState[] = ["queued", "running", "inbox", "done", "closed"];
const people = [null, "usr_1", "usr_2"];

/**
 * Returns the n-th of many tasks. Every mix of state, line, station and assignee occurs equally often, in no particular
 * order.
 */
function task(n: number, more: Partial<TaskRow> = {}): TaskRow {
  const mix = (n * 7_919) % 90;
  const pick = <One>(from: readonly One[], each: number): One => from[Math.floor(mix / each) % from.length] as One;
  return {
    id: `task_${String(n).padStart(6, "0")}`,
    teamId,
    lineId: pick(["line_1", "line_2"], 1),
    title: "",
    description: "",
    url: "",
    station: pick(["work", "review", "ship"], 2),
    state: pick(states, 6),
    assignee: pick(people, 30),
    openedBy: { kind: "person", userId: "usr_1" },
    marks: {},
    pullRequest: null,
    runId: null,
    asks: null,
    failure: null,
    openedAt: "",
    movedAt: "",
    ...more,
  };
}

const filters: readonly TaskFilter[] = [undefined, "inbox" as const].flatMap((state) =>
  [undefined, "line_2"].flatMap((lineId) =>
    [undefined, "review"].flatMap((station) =>
      [undefined, null, "usr_2"].map((assignee) => ({ state, lineId, station, assignee })),
    ),
  ),
);

/** Returns a reading of the tasks, all written in one batch. */
async function stored(t: Test, all: readonly TaskRow[]): Promise<Reading> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-tasks-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const changes: Change[] = [];
  const writing: PublishingWriting & CountingWriting = {
    now: 0,
    send: () => undefined,
    publishRow: () => undefined,
    get: (key) => store.reading.get(key),
    range: (range) => store.reading.range(range),
    put: (key, value) => changes.push({ op: "put", key, value }),
    remove: (key) => changes.push({ op: "remove", key }),
  };
  for (const one of all) tasks.insert(writing, workspaceId, one);
  await store.commit(changes);
  return store.reading;
}

const fits = (one: TaskRow, filter: TaskFilter) =>
  Object.entries(filter).every(([name, value]) => value === undefined || one[name as keyof TaskFilter] === value);

/** Reads, slice by slice, the page of 20 tasks before `before`, or the first page. */
function readPage(reading: Reading, filter: TaskFilter, before: string | undefined): TaskRow[] {
  const found: TaskRow[] = [];
  let cursor: Cursor<TaskRow> | null = null;
  do {
    const page = { before, limit: 20, cursor };
    const slice: Slice<TaskRow> = listTeamTasks(reading, { workspaceId, teamId }, filter, page);
    found.push(...slice.rows);
    cursor = slice.next;
  } while (cursor !== null);
  return found;
}

/**
 * Returns how many rows two pages of 20 may read. Each returned task counts as two: the row itself and its index row.
 */
function mostRead(filter: TaskFilter): number {
  const given = Object.values(filter).filter((value) => value !== undefined).length;
  // For any two filters, there is an index that finds the matching tasks. In addition to the returned rows, the query
  // reads one or two rows of each matching index line.
  if (given === 0 || given === 2) return 2 * 40 + 3 * 10;
  // With three filters, the read finds tasks by two filters. One in three of these tasks also matches the third filter.
  return given === 1 ? 2 * 40 + 15 * 5 : 3 * 2 * 40 + 10;
}

t.test("a page of a team with 10,000 tasks reads only the rows that it returns, with any filter", async (t) => {
  const all = Array.from({ length: 10_000 }, (_, n) => task(n));
  const rows = countingReading(await stored(t, all));
  for (const filter of filters) {
    const wanted = all.filter((one) => fits(one, filter)).reverse();
    rows.reset();
    const first = readPage(rows, filter, undefined);
    t.same(first, wanted.slice(0, 20), JSON.stringify(filter));
    t.same(readPage(rows, filter, first.at(-1)?.id), wanted.slice(20, 40));
    t.ok(rows.read <= mostRead(filter), `${rows.read} rows were read for two pages of ${JSON.stringify(filter)}`);
  }
});

t.test("a task is found by what it is now, not by what it was", async (t) => {
  const rows = memoryRows();
  const find = (filter: TaskFilter) => readPage(rows, filter, undefined).map(({ id }) => id);
  const one = task(1, { state: "queued", assignee: null, station: "work" });
  const asked: TaskRow = { ...one, state: "inbox" };
  tasks.insert(rows, workspaceId, one);
  tasks.put(rows, workspaceId, one, asked);
  tasks.put(rows, workspaceId, asked, { ...asked, assignee: "usr_2", station: "review" });
  for (const filter of [{ state: "queued" as const }, { assignee: null }, { station: "work" }])
    t.same(find(filter), []);
  t.same(find({ state: "inbox", assignee: "usr_2", station: "review", lineId: one.lineId }), [one.id]);
  t.same(find({}), [one.id]);
});
