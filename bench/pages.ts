import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { TellingWriting } from "../actors/tables/follow.js";
import type { TaskRow, TaskState } from "../actors/tasks/task.js";
import { listTeamTasks } from "../actors/tasks/task.queries.js";
import { tasks } from "../actors/tasks/task.table.js";
import { readPage } from "../http/page-reading.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Change, Reading, Store } from "../storage/store.js";
import { liveBytes } from "../test/support/live-heap.js";
import { percentile, printTable } from "./support/table.js";

const TASKS = 100_000;
/** Tasks of one half that have one value of the other. */
const IN_COMMON = 10;
const PAGES = 200;
/** Pages read before the first that counts. */
const WARM_UP = 3;
const LIMIT = 50;
const workspaceId = "ws_bench";
const teamId = "team_bench";

const facets = ["state", "lineId", "station", "assignee"] as const;
type Facet = (typeof facets)[number];
type Facets = Pick<TaskRow, Facet>;

/** What the tasks of two halves have; one in ten has any mix, so that there are many lines, stations and people. */
const halves: readonly [Facets, Facets] = [
  { state: "done", lineId: "line_a", station: "work", assignee: "usr_a" },
  { state: "inbox", lineId: "line_b", station: "review", assignee: "usr_b" },
];
const states: readonly TaskState[] = ["queued", "running", "inbox", "done", "closed"];
const pairs = facets.flatMap((one, index) => facets.slice(index + 1).map((other) => [one, other] as const));

/** Every so many tasks stands one of the few that have a value of each half. */
const APART = Math.floor(TASKS / (pairs.length * IN_COMMON));

function task(n: number): TaskRow {
  return {
    ...{ id: `task_${String(n).padStart(8, "0")}`, teamId, title: `Task ${n}`, description: "To be done. ".repeat(10) },
    ...{ url: "", openedBy: { kind: "person", userId: "usr_a" }, marks: {}, pullRequest: null, runId: null },
    ...{ asks: null, failure: null, openedAt: "2026-01-01T00:00:00.000Z", movedAt: "2026-01-01T00:00:00.000Z" },
    ...facetsOf(n),
  };
}

function facetsOf(n: number): Facets {
  const special = n % APART === 0 && n < APART * pairs.length * IN_COMMON ? n / APART : null;
  const pair = special === null ? undefined : pairs[special % pairs.length];
  if (pair !== undefined) {
    const [one, other] = pair;
    return { ...mixed(n), [one]: halves[0][one], [other]: halves[1][other] };
  }
  return n % 10 === 3 ? mixed(n) : halves[n % 2 === 0 ? 0 : 1];
}

function mixed(n: number): Facets {
  return {
    ...{ state: states[(n % 7) % 5] ?? "queued", lineId: `line_${n % 37}`, station: `station_${n % 11}` },
    assignee: n % 53 === 0 ? null : `usr_${n % 53}`,
  };
}

/** Times of pages, and of their slices, in milliseconds. */
interface Times {
  readonly pages: number[];
  readonly slices: number[];
}

/** Pages of a team with 100,000 tasks, narrowed by every pair of what a list may be narrowed by. */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    await fill(store);
    liveBytes();
    const rows: (string | number)[][] = [];
    for (const [one, other] of pairs) {
      const apart = { [one]: halves[0][one], [other]: halves[1][other] };
      const same = { [one]: halves[0][one], [other]: halves[0][other] };
      rows.push(await figures(store, `${one} and ${other}, ${IN_COMMON} in common`, apart));
      rows.push(await figures(store, `${one} and ${other}, many in common`, same));
    }
    for (const one of facets) rows.push(await figures(store, `${one} alone`, { [one]: halves[0][one] }));
    const { assignee, state } = halves[0];
    const three = { assignee, state, lineId: halves[1].lineId };
    rows.push(await figures(store, "assignee, state and lineId, none in common", three, 5));
    rows.push(await figures(store, "all", {}));
    printTable({
      title: `A page of ${LIMIT} of ${TASKS} tasks`,
      note: `${PAGES} pages each, from any place in the list; LMDB, a view each, in milliseconds. A slice holds the loop.`,
      columns: ["narrowed by", "rows", "median", "p99", "longest", "slice median", "slice p99", "longest slice"],
      rows,
    });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function figures(store: Store, name: string, filter: object, pages = PAGES): Promise<(string | number)[]> {
  const times: Times = { pages: [], slices: [] };
  const warmingUp: Times = { pages: [], slices: [] };
  for (let count = 1; count < WARM_UP; count++) await page(store, filter, undefined, warmingUp);
  const found = await page(store, filter, undefined, warmingUp);
  for (let count = 0; count < pages; count++) {
    // Requests come one by one: what a page leaves is let go of when the loop turns.
    await setImmediate();
    const from = Math.floor((TASKS * (count + 1)) / pages);
    await page(store, filter, count % 2 === 0 ? undefined : task(from).id, times);
  }
  const inMs = (value: number) => value.toFixed(2);
  const spread = (all: readonly number[], shares: readonly number[]) =>
    shares.map((share) => inMs(percentile(all, share)));
  return [name, found, ...spread(times.pages, [0.5, 0.99, 1]), ...spread(times.slices, [0.5, 0.99, 1])];
}

async function page(store: Store, filter: object, before: string | undefined, times: Times): Promise<number> {
  const begun = performance.now();
  const signal = new AbortController().signal;
  const found = await readPage<TaskRow>(store, { signal }, (reading: Reading, cursor) => {
    const sliceBegun = performance.now();
    const slice = listTeamTasks(reading, { workspaceId, teamId }, filter, { before, limit: LIMIT, cursor });
    times.slices.push(performance.now() - sliceBegun);
    return slice;
  });
  times.pages.push(performance.now() - begun);
  return "refused" in found ? 0 : found.length;
}

async function fill(store: Store): Promise<void> {
  const { reading } = store;
  for (let from = 0; from < TASKS; from += 5_000) {
    const changes: Change[] = [];
    const writing: TellingWriting = {
      publishRow: () => undefined,
      get: (key) => reading.get(key),
      range: (range) => reading.range(range),
      put: (key, value) => changes.push({ op: "put", key, value }),
      remove: (key) => changes.push({ op: "remove", key }),
    };
    for (let n = from; n < from + 5_000; n++) tasks.insert(writing, workspaceId, task(n));
    await store.commit(changes);
  }
}
