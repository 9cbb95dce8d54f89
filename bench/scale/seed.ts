import { fork } from "node:child_process";
import { once } from "node:events";
import type { AttemptRow, HookOccurrence } from "../../actors/hooks/hook-occurrence.js";
import { hookOccurrences, listAttempts } from "../../actors/hooks/hook-occurrence.table.js";
import { type RunFact, runFacts } from "../../actors/run-facts/run-fact.table.js";
import { type Stay, stays } from "../../actors/run-facts/stay.table.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runSteps, runs, type StoredStep } from "../../actors/runs/run.table.js";
import { getRunInput, type RunInputRow } from "../../actors/runs/run-input.table.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { tasks } from "../../actors/tasks/task.table.js";
import { address } from "../../runtime/cells/address.js";
import { type CellRecord, cellKey } from "../../runtime/cells/cell-record.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Reading } from "../../storage/store.js";
import { type BenchService, openBenchService } from "../support/bench-service.js";
import { IdleRunnerProcess } from "../support/idle-runner-process.js";
import { findUndoneTask } from "../support/undone-task.js";

/** The data that clients of a filled store need, as plain values. */
export interface Seed {
  readonly workspaceId: string;
  readonly userId: string;
  /** The team whose tasks grow with the store. */
  readonly teamId: string;
  /** The team that has the same number of rows in a store of any size. */
  readonly steadyTeamId: string;
  readonly lineId: string;
  /**
   * The credentials of one workspace: the owner's cookie, a bearer token, and a pool's token. A store of any size has
   * them.
   */
  readonly cookie: string;
  readonly bearer: string;
  readonly poolToken: string;
  /** The URL for hook deliveries. */
  readonly receiver: string;
}

/** A task that a service worked on, with all its rows. The filled stores contain copies of this task. */
export interface SampleTask {
  readonly task: TaskRow;
  readonly run: RunRow;
  readonly input: RunInputRow;
  readonly fact: RunFact;
  readonly step: StoredStep;
  readonly stays: readonly Stay[];
  /** The actors' stored records. */
  readonly actors: { readonly task: CellRecord; readonly run: CellRecord };
}

/**
 * A finished task, a task that waits for its assignee, a closed task, and a delivered hook occurrence with its attempt.
 */
export interface Samples {
  readonly done: SampleTask;
  readonly inbox: SampleTask;
  readonly closed: SampleTask;
  readonly occurrence: HookOccurrence;
  readonly attempt: AttemptRow;
}

/** The keys of two lines: the tasks of `HEARD` trigger hooks, and the tasks of `QUIET` do not. */
export const HEARD = "heard";
export const QUIET = "quiet";
/** The hook's key. */
export const HOOK = "tell";
const POLL_MS = 20;

/** Creates a store with a workspace and runs a few tasks in it, all through the service's own interfaces. */
export async function makeSeed(folder: string, receiver: string): Promise<Seed> {
  const service = await openBenchService("node", { OUTBOUND_ALLOW: receiver }, { folder });
  try {
    const { workspaceId, teamId, bearer, cookie } = service;
    const within = `/api/resources/workspaces/${workspaceId}`;
    const steady = await service.create(`${within}/teams`, { key: "steady", name: "Steady" }, "steady");
    const pool = await service.create(`${within}/runner-pools`, { key: "main" }, "pool");
    const lineId = await makeLine(service, QUIET);
    await makeLine(service, HEARD);
    const steps = [{ name: "tell", request: { url: receiver } }];
    const signing = { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 };
    const hook = { key: HOOK, on: "task.opened", match: { lines: [HEARD] }, steps, signing };
    await service.create(`/api/resources/teams/${teamId}/hooks`, hook, "hook");
    const poolToken = String(pool.headers.get("service-pool-token"));
    await work(service, poolToken, "completed", ["done"]);
    const [, closed] = await work(service, poolToken, "failed", ["inbox", "closed"]);
    await service.post(`/api/tasks/${closed}/close`, {}, 200);
    const { userId } = JSON.parse(await service.get("/api/sessions/me")) as { readonly userId: string };
    const ids = { workspaceId, userId, teamId, steadyTeamId: steady.id, lineId };
    return { ...ids, cookie, bearer, poolToken, receiver };
  } finally {
    await service.close();
  }
}

async function makeLine({ create, teamId }: BenchService, key: string): Promise<string> {
  const prompt = "Read the issue, mend what it says, and show it with a test.";
  const stations = [{ key: "work", name: "Work", kind: "work", prompt, runners: { pool: "main" } }];
  const line = { key, name: key, repositories: [{ name: "acme/app" }], stations };
  return (await create(`/api/resources/teams/${teamId}/lines`, line, `line-${key}`)).id;
}

/** Opens tasks with these titles, and waits until a runner has worked on them; returns their ids. */
async function work(
  service: BenchService,
  poolToken: string,
  outcome: "completed" | "failed",
  titles: readonly string[],
): Promise<string[]> {
  const runner = new IdleRunnerProcess({ port: service.port, poolToken, slots: 1, steps: 1, outcome });
  const ids: string[] = [];
  for (const title of titles) {
    ids.push((await service.create(`/api/teams/${service.teamId}/tasks`, { title, line: HEARD }, title)).id);
  }
  await runner.waitFor(() => findUndoneTask(service), POLL_MS);
  await runner.end();
  return ids;
}

/** Starts a program that receives hook deliveries; returns its URL, and a function that stops it. */
export async function openReceiver(): Promise<{ readonly url: string; readonly close: () => void }> {
  const receiver = fork(new URL("../support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  return { url: `http://127.0.0.1:${port}`, close: () => receiver.disconnect() };
}

/** Reads the tasks that {@link makeSeed} created, and a hook delivery of one of them. */
export async function readSamples(folder: string, seed: Seed): Promise<Samples> {
  const store = await openLmdbStore({ folder });
  try {
    const { reading } = store;
    const { workspaceId, teamId } = seed;
    const [occurrence] = hookOccurrences.list(reading, workspaceId, [teamId]);
    const attempt = listAttempts(reading, workspaceId, teamId, occurrence?.id ?? "").at(-1);
    return {
      done: readTask(reading, seed, "done"),
      inbox: readTask(reading, seed, "inbox"),
      closed: readTask(reading, seed, "closed"),
      occurrence: there(occurrence),
      attempt: there(attempt),
    };
  } finally {
    await store.close();
  }
}

function readTask(reading: Reading, { workspaceId, teamId }: Seed, state: "done" | "inbox" | "closed"): SampleTask {
  const task = there(tasks.all(reading, workspaceId, { teamId, state }).find(({ title }) => title === state));
  const run = there(runs.get(reading, workspaceId, there(task.runId)));
  const record = (kind: string, id: string) => there(reading.get<CellRecord>(cellKey(address(workspaceId, kind, id))));
  return {
    task,
    run,
    input: getRunInput(reading, workspaceId, run.id),
    fact: there(runFacts.all(reading, workspaceId, { teamId }).find(({ runId }) => runId === run.id)),
    step: there(runSteps.list(reading, workspaceId, [run.id])[0]),
    stays: stays.list(reading, workspaceId, [teamId]).filter(({ taskId }) => taskId === task.id),
    actors: { task: record("task", task.id), run: record("run", run.id) },
  };
}

function there<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("a row of a sample is missing");
  return value;
}
