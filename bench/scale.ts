import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DATA_FILE } from "../storage/data-file.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import { checkStore } from "./scale/check.js";
import { fillTasks, OLD_TASKS } from "./scale/fill.js";
import { type Operation, type Side, taskOperations, workspaceOperations } from "./scale/operations.js";
import { makeSeed, openReceiver, readSamples, type Seed } from "./scale/seed.js";
import { Served, warm } from "./scale/served.js";
import { fillWorkspaces } from "./scale/workspaces.js";
import { percentile, printTable } from "./support/table.js";

const SIZES = [1_000, 30_000, 1_000_000];
const WORKSPACES = [1, 100, 10_000];
const ROUNDS = 5;
/** Uncounted rounds of each operation before the counted ones. */
const WARM_UPS = 2;
const START_ROUNDS = 3;
const MEGABYTE = 1_000_000;
/** How far the clock is set ahead, in milliseconds. It is longer than a sweeper's longest pause, 75 minutes. */
const AHEAD_MS = 80 * 60 * 1_000;

type Row = readonly (string | number)[];

interface Filled {
  readonly size: number;
  readonly folder: string;
  readonly seed: Seed;
  readonly taskIds: readonly string[];
}

/**
 * Measures what an operation costs in stores of different sizes; `most` is the maximum number of tasks, one million by
 * default.
 */
export async function run(most = Math.max(...SIZES)): Promise<void> {
  const sizes = [...SIZES.filter((size) => size < most), most];
  const spaces = WORKSPACES.filter((count) => count <= most);
  await compare(sizes, taskOperations, {
    title: "Growth of a store's tasks",
    fill: async (folder, seed, count) => {
      const samples = await readSamples(folder, seed);
      const store = await openLmdbStore({ folder });
      const taskIds = await fillTasks(store, seed, { samples, count });
      if (count === sizes[0]) checkStore(store.reading);
      await store.close();
      return taskIds;
    },
    what: "tasks, as many runs, run facts and hook occurrences, of one team in 180 days",
  });
  await compare(spaces, workspaceOperations, {
    title: "Growth of the number of workspaces",
    fill: async (folder, _seed, count) => {
      await fillWorkspaces(folder, count - 1);
      return [];
    },
    what: "workspaces, each with a team; all but the last rows in one of them",
  });
}

/**
 * A kind of store that is measured at several sizes. `fill` fills a store up to a size. `what` is the unit of the size.
 */
interface Growing {
  readonly title: string;
  readonly what: string;
  fill(folder: string, seed: Seed, size: number): Promise<readonly string[]>;
}

async function compare(sizes: readonly number[], operations: readonly Operation[], growing: Growing): Promise<void> {
  const receiver = await openReceiver();
  const stores: Filled[] = [];
  try {
    for (const size of sizes) {
      const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
      const seed = await makeSeed(folder, receiver.url);
      stores.push({ size, folder, seed, taskIds: await growing.fill(folder, seed, size) });
    }
    const rows: Row[] = [["megabytes on the disk", ...(await Promise.all(stores.map(megabytes))), ""]];
    for (const { folder } of stores) warm(folder);
    const sides: Side[] = [];
    for (const store of stores) sides.push({ ...store, served: await Served.start(store.folder, store.seed) });
    rows.push(...(await measureAll(sides, operations)));
    if (operations === taskOperations) rows.push(await measureRetention(sides));
    for (const { served } of sides) await served.stop();
    rows.push(...(await measureStarts(stores)));
    print(growing, sizes, rows);
  } finally {
    for (const { folder } of stores) await rm(folder, { recursive: true });
    receiver.close();
  }
}

async function megabytes({ folder }: Filled): Promise<number> {
  return Math.round((await stat(join(folder, DATA_FILE))).size / MEGABYTE);
}

/** Measures each operation in microseconds, alternating between stores of all sizes. */
async function measureAll(sides: readonly Side[], operations: readonly Operation[]): Promise<Row[]> {
  const measured = operations.map(() => sides.map((): number[] => []));
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    for (const [index, { count, prepare, work }] of operations.entries()) {
      for (const [at, side] of sides.entries()) {
        await prepare?.(side);
        const micros = await side.served.measure(() => work(side, round));
        if (round >= WARM_UPS) measured[index]?.[at]?.push(micros / count);
      }
    }
  }
  return operations.map(({ name }, index) =>
    toRow(
      name,
      (measured[index] ?? []).map((rounds) => percentile(rounds, 0.5)),
    ),
  );
}

/** Measures the microseconds that retention takes per expired task, including its run, step and hook occurrence. */
async function measureRetention(sides: readonly Side[]): Promise<Row> {
  const micros: number[] = [];
  for (const { served } of sides) {
    micros.push((await served.measure(() => served.tell({ type: "ahead", ms: AHEAD_MS }))) / OLD_TASKS);
  }
  return toRow("retention: a task removed, with all that belongs to it", micros);
}

/** Measures startup, after a stop and after a kill. */
async function measureStarts(stores: readonly Filled[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const end of ["stop", "kill"] as const) {
    const starts = stores.map((): Served["started"][] => []);
    for (let round = 0; round <= START_ROUNDS; round++) {
      for (const [at, { folder, seed }] of stores.entries()) {
        const served = await Served.start(folder, seed);
        // Do not count the first round, because the store may have been closed in another way before it.
        if (round > 0) starts[at]?.push(served.started);
        await served.tell({ type: "settle" });
        await served[end]();
      }
    }
    const median = (read: (started: Served["started"]) => number) =>
      starts.map((started) => percentile(started.map(read), 0.5));
    rows.push(
      toRow(
        `a start after a ${end}, without loading modules`,
        median(({ startMicros }) => startMicros),
      ),
    );
    rows.push(
      toRow(
        "ms from the process to listening",
        median(({ listensMs }) => listensMs),
      ),
    );
    rows.push(
      toRow(
        "resident MB then",
        median(({ residentBytes }) => residentBytes / MEGABYTE),
      ),
    );
  }
  return rows;
}

/** Returns a row of figures, with the ratio of the last to the first. */
function toRow(name: string, figures: readonly number[]): Row {
  const [first = 1] = figures;
  return [name, ...figures.map((figure) => Math.round(figure)), ((figures.at(-1) ?? 0) / first).toFixed(2)];
}

function print({ title, what }: Growing, sizes: readonly number[], rows: readonly Row[]): void {
  printTable({
    title,
    note:
      `Microseconds of the server process's CPU, user and system, an operation, all that follows from it included, in ` +
      `stores that hold so many ${what}: medians of ${ROUNDS} rounds by turns, after ${WARM_UPS} that are not counted. ` +
      "All of the files were read before, so that no read waits for the disk. The ratio is of the last to the first. Of a " +
      "file of up to 256 MB a start checks all pages, so one of a greater file takes less.",
    columns: ["", ...sizes.map((size) => size.toLocaleString("en-US")), "ratio"],
    rows,
  });
}
