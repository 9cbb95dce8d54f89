import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import { type Asked, quietReader } from "./support/fair-requests.js";
import { IdleRunnerProcess } from "./support/idle-runner-process.js";
import type { Load, LoadFigures } from "./support/load.js";
import { percentile, printTable } from "./support/table.js";
import { findUndoneTask } from "./support/undone-task.js";

const RUNS = 50;
const REPEATS = 5;
const COPIES = RUNS * REPEATS;
const STARTS = 8;
/**
 * A replay starts every `START_EVERY_MS` milliseconds. Meanwhile, the quiet workspace's reads are measured for
 * `READ_MS` milliseconds.
 */
const START_EVERY_MS = 500;
const READ_MS = START_EVERY_MS * STARTS;
/**
 * Number of the runner's slots for each measurement. Replays may use only half of the slots. So tasks and replays can
 * use equally many.
 */
const SLOTS = { task: 16, replay: 32 };
const ROUNDS = 3;

/**
 * Measures the start of a replay of 50 runs with five copies each, and its effect on another workspace's reads. Also
 * measures how many runs per second the dispatcher passes to a runner whose agents do no work, for tasks and for
 * replays.
 */
export async function run(): Promise<void> {
  const service = await openBenchService("uws");
  try {
    const scene = await arrange(service);
    const quiet = await quietReader(service);
    const alone = await read(quiet);
    const reading = read(quiet);
    const { times: startMs, ids } = await startMany(scene);
    const beside = await reading;
    for (const id of ids) await service.post(`${scene.teamPath}/replays/${id}/stop`, undefined, 204);
    const rates: { task: number; replay: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rates.push({ task: await runTasks(scene, round), replay: await runReplay(scene, `run-${round}`) });
    }
    print({ alone, beside, startMs, rates });
  } finally {
    await service.close();
  }
}

/** A replay set whose runs can be replayed. */
interface Scene {
  readonly service: BenchService;
  readonly poolToken: string;
  readonly setPath: string;
  readonly teamPath: string;
}

async function arrange(service: BenchService): Promise<Scene> {
  const { workspaceId, teamId } = service;
  const pools = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  const pool = await service.create(pools, { key: "main" }, "pool");
  const poolToken = pool.headers.get("service-pool-token") ?? "";
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  const line = await service.create(
    `/api/resources/teams/${teamId}/lines`,
    { key: "dev", name: "Dev", stations },
    "line",
  );
  const made = JSON.parse(line.text) as { readonly stations: readonly { readonly id: string }[] };
  const teamPath = `/api/teams/${teamId}`;
  const setsPath = `${teamPath}/lines/${line.id}/stations/${made.stations[0]?.id}/replay-sets`;
  const set = await service.create(setsPath, { name: "Bench" }, "set");
  const scene = { service, poolToken, teamPath, setPath: `${teamPath}/replay-sets/${set.id}` };
  await runTasks(scene, -1, RUNS);
  const found = JSON.parse(await service.get(`${setsPath.replace("replay-sets", "replayable-runs")}`)) as {
    readonly items: readonly { readonly runId: string }[];
  };
  for (const { runId } of found.items) await service.post(`${scene.setPath}/entries`, { runId }, 204);
  return scene;
}

/** Starts replays at a steady pace. Returns the milliseconds of each start, and the replays' ids. */
async function startMany(
  scene: Scene,
): Promise<{ readonly times: readonly number[]; readonly ids: readonly string[] }> {
  const times: number[] = [];
  const ids: string[] = [];
  for (let n = 0; n < STARTS; n++) {
    const next = pause(START_EVERY_MS);
    const begunMs = performance.now();
    ids.push(await start(scene, `start-${n}`));
    times.push(performance.now() - begunMs);
    await next;
  }
  return { times, ids };
}

async function start({ service, setPath }: Scene, key: string): Promise<string> {
  const asked = { candidate: "live", ceiling: { amount: 1_000, currency: "EUR" }, repeats: REPEATS };
  return (await service.create(`${setPath}/replays`, asked, key)).id;
}

/** Returns tasks per second, from the start of a runner's process until the last task ends. */
async function runTasks(scene: Scene, round: number, count = COPIES): Promise<number> {
  const { service, teamPath } = scene;
  for (let n = 0; n < count; n++) {
    await service.create(`${teamPath}/tasks`, { title: `Task ${n}`, line: "dev" }, `task-${round}-${n}`);
  }
  return count / (await timed(scene, SLOTS.task, () => findUndoneTask(service)));
}

/** Returns replay copies per second, from the start of a runner's process until the replay ends. */
async function runReplay(scene: Scene, key: string): Promise<number> {
  const id = await start(scene, key);
  const findUndone = async () => {
    const replay = JSON.parse(await scene.service.get(`${scene.teamPath}/replays/${id}`)) as { readonly state: string };
    return replay.state === "finished" ? null : `${id} is ${replay.state}`;
  };
  return COPIES / (await timed(scene, SLOTS.replay, findUndone));
}

/** Returns the seconds from the start of a runner's process until `findUndone` finds nothing left. */
async function timed(
  { service, poolToken }: Scene,
  slots: number,
  findUndone: () => Promise<string | null>,
): Promise<number> {
  const begunMs = performance.now();
  const runner = new IdleRunnerProcess({ port: service.port, poolToken, slots });
  await runner.waitFor(findUndone, 20);
  const seconds = (performance.now() - begunMs) / 1_000;
  await runner.end();
  return seconds;
}

async function read(of: Asked): Promise<LoadFigures> {
  const child = fork(fileURLToPath(new URL("./support/load.js", import.meta.url)));
  child.send({ ...of, warmUpMs: 500, durationMs: READ_MS, status: 200 } satisfies Load);
  const [figures] = (await once(child, "message")) as [LoadFigures];
  child.kill();
  return figures;
}

function print(of: {
  readonly alone: LoadFigures;
  readonly beside: LoadFigures;
  readonly startMs: readonly number[];
  readonly rates: readonly { readonly task: number; readonly replay: number }[];
}): void {
  const { alone, beside, startMs, rates } = of;
  const median = (which: "task" | "replay") =>
    percentile(
      rates.map((rate) => rate[which]),
      0.5,
    );
  printTable({
    title: "Replays",
    note:
      `A replay of ${RUNS} runs, ${REPEATS} copies of each. Its start is the whole request, ${STARTS} times; meanwhile ` +
      `another workspace is read over one connection. Runs a second: ${COPIES} of them, queued before, from the hello of ` +
      `a runner that does nothing until the last has ended, medians of ${ROUNDS} rounds by turns; replays have half of ` +
      "the runner's places, which are twice as many.",
    columns: ["", "figure", "beside", "ratio"],
    rows: [
      ["start, p50 ms", percentile(startMs, 0.5).toFixed(1), "", ""],
      ["start, the longest, ms", Math.max(...startMs).toFixed(1), "", ""],
      [
        "another workspace's reads, p99 ms; alone",
        ...[beside.p99Ms.toFixed(2), alone.p99Ms.toFixed(2), (beside.p99Ms / alone.p99Ms).toFixed(1)],
      ],
      [
        "copies a second; tasks a second",
        ...[Math.round(median("replay")), Math.round(median("task")), (median("replay") / median("task")).toFixed(2)],
      ],
    ],
  });
}
