import type { Change, Store } from "../storage/store.js";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import { IdleRunnerProcess } from "./support/idle-runner-process.js";
import { type Frame, profile, type Sample } from "./support/profile.js";
import { percentile, printTable } from "./support/table.js";
import { findUndoneTask } from "./support/undone-task.js";

const TASKS = 60;
const SLOTS = 16;
/**
 * Number of counted rounds. Below it, the number of warm-up rounds before them. Commits are counted in the last warm-up
 * round.
 */
const ROUNDS = 5;
const WARM_UP = 3;
/** Number of steps that an agent reports: as many as in a small task, or none. */
const STEPS = [20, 0] as const;

/** The modules that record run inputs, run outcomes and the stays of tasks. */
const modules = ["/actors/runs/run-input.js", "/actors/runs/run-fact.js", "/actors/run-facts/", "/tasks/ended-runs.js"];
/** The tables that these modules write. */
const recorded = ["run-input", "run-base", "run-fact", "run-fact-by-station", "run-outcome", "stay"];
/** The module that encodes a batch's rows and writes them to disk. */
const COMMITS = "/storage/lmdb-commits.js";

/** The number of committed rows, and their approximate size in bytes. */
interface Written {
  rows: number;
  bytes: number;
}

/** Counts committed rows while `counts` is true. */
class CommitCounter {
  counts = false;
  all: Written = { rows: 0, bytes: 0 };
  recorded: Written = { rows: 0, bytes: 0 };

  around(store: Store): Store {
    const commit: Store["commit"] = (changes) => {
      if (this.counts) for (const change of changes) this.#count(change);
      return store.commit(changes);
    };
    return {
      reading: store.reading,
      commit,
      view: () => store.view(),
      close: () => store.close(),
      backup: (folder) => store.backup(folder),
    };
  }

  reset(): void {
    this.all = { rows: 0, bytes: 0 };
    this.recorded = { rows: 0, bytes: 0 };
  }

  #count(change: Change): void {
    const bytes = JSON.stringify(change.key).length + (change.op === "put" ? JSON.stringify(change.value).length : 0);
    const isRecorded = recorded.includes(String(change.key[2]));
    for (const into of isRecorded ? [this.all, this.recorded] : [this.all]) {
      into.rows += 1;
      into.bytes += bytes;
    }
  }
}

/** The recording cost of tasks whose agents report this many steps. */
interface Recording {
  readonly steps: number;
  readonly rowsEach: number;
  readonly ofRows: number;
  readonly ofBytes: number;
  readonly rounds: Shares[];
}

/** Measures what recording run inputs, outcomes and stays costs for an ordinary task. */
export async function run(): Promise<void> {
  const counter = new CommitCounter();
  const service = await openBenchService("uws", {}, { around: (store) => counter.around(store) });
  try {
    const work = { service, poolToken: await arrange(service), opened: 0 };
    for (let round = 1; round < WARM_UP; round++) await runTasks(work, STEPS[0]);
    const recordings: Recording[] = [];
    for (const steps of STEPS) recordings.push(await countRecorded(counter, steps, () => runTasks(work, steps)));
    for (let round = 0; round < ROUNDS; round++) {
      for (const { steps, ofBytes, rounds } of recordings) {
        rounds.push(toShares(await profile(() => runTasks(work, steps)), ofBytes));
      }
    }
    print(recordings);
  } finally {
    await service.close();
  }
}

async function countRecorded(counter: CommitCounter, steps: number, work: () => Promise<void>): Promise<Recording> {
  counter.reset();
  counter.counts = true;
  await work();
  counter.counts = false;
  const { all, recorded: own } = counter;
  return { steps, rowsEach: own.rows / TASKS, ofRows: own.rows / all.rows, ofBytes: own.bytes / all.bytes, rounds: [] };
}

/** Creates a line with one station over a repository, with a 2 KB prompt; returns its pool's token. */
async function arrange({ create, workspaceId, teamId }: BenchService): Promise<string> {
  const pool = await create(`/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "main" }, "pool");
  const prompt = "Read the issue, mend what it says, and show it with a test. ".repeat(34);
  const station = { key: "work", name: "Work", kind: "work", prompt, check: "npm test", runners: { pool: "main" } };
  const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations: [station] };
  await create(`/api/resources/teams/${teamId}/lines`, line, "line");
  return pool.headers.get("service-pool-token") ?? "";
}

/** Where to open tasks, and how many were opened so far. */
interface Work {
  readonly service: BenchService;
  readonly poolToken: string;
  opened: number;
}

/** Opens tasks while a runner works on them, and waits until all are done. */
async function runTasks(work: Work, steps: number): Promise<void> {
  const { service, poolToken } = work;
  const tasks = `/api/teams/${service.teamId}/tasks`;
  const runner = new IdleRunnerProcess({ port: service.port, poolToken, slots: SLOTS, steps });
  for (let n = 0; n < TASKS; n++) {
    const description = "What happens, what should happen, and how to see it. ".repeat(10);
    work.opened += 1;
    await service.create(tasks, { title: `Task ${n}`, description, line: "dev" }, `task-${work.opened}`);
  }
  await runner.waitFor(() => findUndoneTask(service), 50);
  await runner.end();
}

/**
 * The figures of one round. `turns` and `commits` are shares of the CPU time of the service's main thread: the shares
 * that recording uses in turns and in commits. The CPU time of the clients in this process does not count.
 */
interface Shares {
  readonly turns: number;
  /**
   * The share that the commits of recorded rows use. The CPU time of a commit is divided among its rows by their bytes.
   */
  readonly commits: number;
  readonly microsEach: number;
}

function toShares(samples: readonly Sample[], ofBytes: number): Shares {
  const isOf = (frames: readonly Frame[], names: readonly string[]) =>
    frames.some(({ url }) => names.some((name) => url.includes(name)));
  const sum = (of: readonly Sample[]) => of.reduce((micros, sample) => micros + sample.micros, 0);
  const served = samples.filter(({ frames }) => !isOf(frames, ["undici", "/bench/"]));
  const all = sum(served);
  const turns = sum(served.filter(({ frames }) => isOf(frames, modules)));
  const commits = sum(served.filter(({ frames }) => isOf(frames, [COMMITS])));
  return { turns: turns / all, commits: (commits / all) * ofBytes, microsEach: all / TASKS };
}

function print(recordings: readonly Recording[]): void {
  const inPercent = (share: number) => (100 * share).toFixed(1);
  const spread = (values: readonly number[], toText = inPercent) =>
    `${toText(percentile(values, 0.5))} (${toText(Math.min(...values))} to ${toText(Math.max(...values))})`;
  const row = (name: string, toText: (of: Recording) => string) => [name, ...recordings.map(toText)];
  const ofRounds = (toShare: (shares: Shares) => number) => (of: Recording) => spread(of.rounds.map(toShare));
  printTable({
    title: "Recording runs",
    note:
      "What recording run inputs, facts, outcomes and stays takes of tasks of one station with a prompt of 2 KB, whose " +
      "agents only report steps of 230 bytes: a CPU profile of the service's main thread, without its clients, of " +
      `${TASKS} tasks from their opening to done, by turns, medians of ${ROUNDS} rounds with the least and the most. ` +
      "Commits count by the bytes of the recorded rows, as JSON. In percent.",
    columns: ["", ...recordings.map(({ steps }) => `${steps} steps`)],
    rows: [
      row(
        "recording, of the CPU",
        ofRounds(({ turns, commits }) => turns + commits),
      ),
      row(
        "in turns",
        ofRounds(({ turns }) => turns),
      ),
      row(
        "in commits",
        ofRounds(({ commits }) => commits),
      ),
      row("of the rows committed", ({ ofRows }) => inPercent(ofRows)),
      row("of their bytes", ({ ofBytes }) => inPercent(ofBytes)),
      row("rows recorded a task", ({ rowsEach }) => rowsEach.toFixed(1)),
      row("CPU of a task, ms", ({ rounds }) =>
        spread(
          rounds.map(({ microsEach }) => microsEach / 1_000),
          (ms) => ms.toFixed(1),
        ),
      ),
    ],
  });
}
