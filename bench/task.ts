import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { connectRunner, type InstantRunner } from "./shape/instant-runner.js";
import { percentile, printTable } from "./support/table.js";
import type { TaskPlace, TaskUse } from "./support/task-service.js";

const ROUNDS = 7;
/** Number of tasks per round. At most `SLOTS` of them run at once. */
const TASKS = 150;
const SLOTS = 16;
/** Numbers of tasks to open at once. */
const PACES = [SLOTS, 1];
/** Warm-up rounds that compile the code. */
const WARM_UP = 3;
/** Time between two checks whether all tasks are done, in milliseconds. */
const LOOK_MS = 10;
const DESCRIPTION = "What happens, what should happen, and how to see it. ".repeat(10);

/** A service in a separate process, and the runner that works on its tasks. */
interface Side {
  readonly name: string;
  readonly process: ChildProcess;
  readonly place: TaskPlace;
  readonly runner: InstantRunner;
  readonly agent: Agent;
  /** The usage in each round, by the number of tasks opened at once. */
  readonly rounds: Map<number, TaskUse[]>;
  opened: number;
}

/**
 * Measures what an ordinary task costs the service. The task is opened, its only run is done by an instant agent, and
 * the task ends. If `folder` is given, the service built in this checkout is measured too.
 */
export async function run(folder?: string, rounds = ROUNDS): Promise<void> {
  const sides: Side[] = [];
  try {
    if (folder !== undefined) sides.push(await open("before", [folder]));
    sides.push(await open("now", []));
    for (let round = 0; round < WARM_UP + rounds; round++) {
      for (const pace of PACES) {
        for (const side of sides) {
          const use = await workTasks(side, pace);
          if (round >= WARM_UP) side.rounds.set(pace, [...(side.rounds.get(pace) ?? []), use]);
        }
      }
    }
    print(sides, rounds);
  } finally {
    for (const side of sides) await close(side);
  }
}

async function open(name: string, args: readonly string[]): Promise<Side> {
  const process = fork(new URL("./support/task-service.js", import.meta.url), args);
  const [place] = (await once(process, "message")) as [TaskPlace];
  const runner = await connectRunner(place.port, place.poolToken);
  runner.offer(SLOTS);
  return { name, process, place, runner, agent: new Agent({ connections: SLOTS }), rounds: new Map(), opened: 0 };
}

async function close({ process, runner, agent }: Side): Promise<void> {
  runner.close();
  await agent.destroy();
  const exit = once(process, "exit");
  process.disconnect();
  await exit;
}

/** Returns the usage per task of one round. */
async function workTasks(side: Side, pace: number): Promise<TaskUse> {
  const before = await use(side);
  const last = side.opened + TASKS;
  const openSome = async () => {
    while (side.opened < last) await openTask(side, side.opened++);
  };
  await Promise.all(Array.from({ length: pace }, openSome));
  while (!(await isAllDone(side))) await pause(LOOK_MS);
  const after = await use(side);
  return {
    micros: (after.micros - before.micros) / TASKS,
    rows: (after.rows - before.rows) / TASKS,
    batches: (after.batches - before.batches) / TASKS,
  };
}

async function use({ process }: Side): Promise<TaskUse> {
  process.send("use");
  const [used] = (await once(process, "message")) as [TaskUse];
  return used;
}

async function openTask({ place: { port, teamId, cookie }, agent }: Side, n: number): Promise<void> {
  const { statusCode, body } = await agent.request({
    origin: `http://127.0.0.1:${port}`,
    path: `/api/teams/${teamId}/tasks`,
    method: "POST",
    headers: { cookie, "content-type": "application/json", "idempotency-key": `task-${n}` },
    body: JSON.stringify({ title: `Task ${n}`, description: DESCRIPTION, line: "dev" }),
  });
  const text = await body.text();
  if (statusCode !== 201) throw new Error(`opening a task answered ${statusCode} ${text}`);
}

/**
 * Whether all tasks are done. While the runner has not ended every run, returns false without sending a request to the
 * service.
 */
async function isAllDone({ place: { port, teamId, cookie }, agent, runner, opened }: Side): Promise<boolean> {
  if (runner.runs() < opened) return false;
  for (const state of ["queued", "running"]) {
    const path = `/api/teams/${teamId}/tasks?state=${state}&limit=1`;
    const origin = `http://127.0.0.1:${port}`;
    const { body } = await agent.request({ origin, path, method: "GET", headers: { cookie } });
    const { items } = (await body.json()) as { readonly items: readonly unknown[] };
    if (items.length > 0) return false;
  }
  return true;
}

function print(sides: readonly Side[], rounds: number): void {
  const median = (side: Side, pace: number, of: keyof TaskUse) =>
    percentile(
      (side.rounds.get(pace) ?? []).map((round) => round[of]),
      0.5,
    );
  const first = sides[0];
  const row = (side: Side, pace: number) => [
    `${side.name}, ${pace === 1 ? "one opened after another" : `${pace} opened at once`}`,
    Math.round(median(side, pace, "micros")),
    first === undefined || first === side
      ? ""
      : (median(side, pace, "micros") / median(first, pace, "micros")).toFixed(2),
    ...[median(side, pace, "rows").toFixed(1), median(side, pace, "batches").toFixed(2)],
  ];
  printTable({
    title: "A task",
    note:
      "An ordinary task through a line of one station with a prompt of 2 KB: opened over HTTP, run by an agent that ends " +
      `at once, done. User and system time of the service's process alone, the runner and who opens tasks in another: ` +
      `medians of ${rounds} rounds of ${TASKS} tasks in turns, of which ${SLOTS} may be run at once.`,
    columns: ["", "CPU us a task", "of that before", "rows", "batches"],
    rows: PACES.flatMap((pace) => sides.map((side) => row(side, pace))),
  });
}
