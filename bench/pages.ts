import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setImmediate } from "node:timers/promises";
import type { CountingWriting } from "../actors/tables/blobs.js";
import type { PublishingWriting } from "../actors/tables/on-write.js";
import type { TaskRow, TaskState } from "../actors/tasks/task.js";
import { listTeamTasks } from "../actors/tasks/task.queries.js";
import { tasks } from "../actors/tasks/task.table.js";
import { readPage } from "../http/wire/page-reading.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Change, Reading, Store } from "../storage/store.js";
import { liveBytes } from "../test/support/live-heap.js";
import { percentile, printTable } from "./support/table.js";

const TASKS = 100_000;
/**
 * For each pair of facets, the number of tasks that take the first facet from the first half and the second facet from
 * the second half.
 */
const IN_COMMON = 10;
const PAGES = 500;
/** Pages read before counting starts, so that the code is compiled. */
const WARM_UP = 100;
/**
 * Number of reads of each page. For each slice, the lowest of the times counts, because other processes delayed it
 * least.
 */
const READS = 3;
const LIMIT = 50;
const workspaceId = "ws_bench";
const teamId = "team_bench";

const facets = ["state", "lineId", "station", "assignee"] as const;
type Facet = (typeof facets)[number];
type Facets = Pick<TaskRow, Facet>;

/**
 * The facets of the tasks in each half. One task in ten is in neither half and has other facets, so that there are many
 * lines, stations and people.
 */
const halves: readonly [Facets, Facets] = [
  { state: "done", lineId: "line_a", station: "work", assignee: "usr_a" },
  { state: "inbox", lineId: "line_b", station: "review", assignee: "usr_b" },
];
const states: readonly TaskState[] = ["queued", "running", "inbox", "done", "closed"];
const pairs = facets.flatMap((one, index) => facets.slice(index + 1).map((other) => [one, other] as const));

/** One in this many tasks has a facet of the first half and a facet of the second half. */
const APART = Math.floor(TASKS / (pairs.length * IN_COMMON));

function task(n: number): TaskRow {
  return {
    id: `task_${String(n).padStart(8, "0")}`,
    teamId,
    title: `Task ${n}`,
    description: "To be done. ".repeat(10),
    url: "",
    openedBy: { kind: "person", userId: "usr_a" },
    marks: {},
    pullRequest: null,
    runId: null,
    asks: null,
    failure: null,
    openedAt: "2026-01-01T00:00:00.000Z",
    movedAt: "2026-01-01T00:00:00.000Z",
    ...toFacets(n),
  };
}

function toFacets(n: number): Facets {
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
    state: states[(n % 7) % 5] ?? "queued",
    lineId: `line_${n % 37}`,
    station: `station_${n % 11}`,
    assignee: n % 53 === 0 ? null : `usr_${n % 53}`,
  };
}

/** Page times in milliseconds. */
interface Times {
  /** From the request until the last row. */
  readonly pages: number[];
  /** CPU time. */
  readonly cpu: number[];
  /** The slices of all pages. Each entry is one slice, with its times in each read of its page. */
  readonly slices: (readonly Slice[])[];
}

interface Slice {
  readonly begun: number;
  readonly ended: number;
  /** CPU time: less than the elapsed time if other processes ran meanwhile. */
  readonly cpu: number;
}

const noTimes = (): Times => ({ pages: [], cpu: [], slices: [] });

/** Measures page reads of a team with 100,000 tasks: with every pair of filters, and with one, three and no filters. */
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
    rows.push(await figures(store, "assignee, state and lineId, none in common", three));
    rows.push(
      await figures(store, "assignee, state and lineId, many in common", { ...three, lineId: halves[0].lineId }),
    );
    rows.push(await figures(store, "all", {}));
    printTable({
      title: `A page of ${LIMIT} of ${TASKS} tasks`,
      note: [
        `${PAGES} pages each, from any place in the list, ${READS} times; LMDB, a view each, in milliseconds. A slice holds the`,
        `loop: its time of the processor, the least of ${READS}, without the pauses of the garbage collector. All of those stand`,
        "at the end.",
      ].join("\n"),
      columns: [
        ...["narrowed by", "rows", "page median", "p99", "its processor median", "p99"],
        ...["slice median", "p99.9", "longest", "pauses", "longest"],
      ],
      rows,
    });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function figures(store: Store, name: string, filter: object): Promise<(string | number)[]> {
  await readPages(store, filter, WARM_UP);
  const { found } = await page(store, filter, undefined, noTimes());
  const pauses = watchPauses();
  const { pages, cpu, slices } = await readPages(store, filter, PAGES);
  const paused = await pauses.end();
  const own = slices.map((reads) => Math.min(...reads.map((slice) => ownTime(slice, paused))));
  const inMs = (value: number) => value.toFixed(2);
  const spread = (all: readonly number[], shares: readonly number[]) =>
    shares.map((share) => inMs(percentile(all, share)));
  return [
    ...[name, found, ...spread(pages, [0.5, 0.99]), ...spread(cpu, [0.5, 0.99])],
    ...spread(own, [0.5, 0.999, 1]),
    ...[paused.length, inMs(Math.max(0, ...paused.map(({ duration }) => duration)))],
  ];
}

/**
 * Reads pages. Every second page is from the start of the list. The other pages are from points spread over the list.
 */
async function readPages(store: Store, filter: object, count: number): Promise<Times> {
  const times = noTimes();
  for (let n = 0; n < count; n++) {
    const from = n % 2 === 0 ? undefined : task(Math.floor((TASKS * (n + 1)) / count)).id;
    const reads: Slice[][] = [];
    for (let read = 0; read < READS; read++) {
      // Let the event loop run, as between two requests, so that the memory of the last page can be freed.
      await setImmediate();
      reads.push((await page(store, filter, from, times)).slices);
    }
    const [first = []] = reads;
    times.slices.push(...first.map((_, slice) => reads.flatMap((each) => each[slice] ?? [])));
  }
  return times;
}

/** Returns how long a slice computed, without the time of other processes and of garbage collection. */
function ownTime({ begun, ended, cpu }: Slice, pauses: readonly PerformanceEntry[]): number {
  const within = pauses.filter(({ startTime }) => startTime >= begun && startTime < ended);
  return Math.max(0, Math.min(ended - begun, cpu) - within.reduce((sum, { duration }) => sum + duration, 0));
}

/** Records garbage collection pauses. */
function watchPauses(): { end(): Promise<readonly PerformanceEntry[]> } {
  const pauses: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  return {
    end: async () => {
      // Wait until Node has reported all pauses, which it does in a later turn of the event loop.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      pauses.push(...observer.takeRecords());
      observer.disconnect();
      return pauses;
    },
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Reads a page and adds its times to `times`. Returns the number of rows, and the slices. */
async function page(store: Store, filter: object, before: string | undefined, times: Times) {
  const slices: Slice[] = [];
  const [begun, cpuBegun] = [performance.now(), cpuMs()];
  const signal = new AbortController().signal;
  const { length } = await readPage<TaskRow>(
    store,
    { signal, pause: nextTurn, goOn: () => null },
    (reading: Reading, cursor) => {
      const [sliceBegun, sliceCpu] = [performance.now(), cpuMs()];
      const slice = listTeamTasks(reading, { workspaceId, teamId }, filter, { before, limit: LIMIT, cursor });
      slices.push({ begun: sliceBegun, ended: performance.now(), cpu: cpuMs() - sliceCpu });
      return slice;
    },
  );
  times.pages.push(performance.now() - begun);
  times.cpu.push(cpuMs() - cpuBegun);
  return { found: length, slices };
}

async function fill(store: Store): Promise<void> {
  const { reading } = store;
  for (let from = 0; from < TASKS; from += 5_000) {
    const changes: Change[] = [];
    const writing: PublishingWriting & CountingWriting = {
      now: 0,
      send: () => undefined,
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
