import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { connectRunner } from "./shape/instant-runner.js";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import { printTable } from "./support/table.js";

const TASKS = 2_000;
const TEXT_BYTES = 50_000;
/** Number of tasks that are opened at once. The next tasks are opened when the runner has finished these. */
const AT_ONCE = 100;
/** The lease of a claim: longer than any measurement, because the runner sends no heartbeats. */
const LEASE_SECONDS = 3_600;
const MEGABYTE = 1_000_000;

/**
 * Measures the size of a store after a runner worked on tasks with long texts, including everything stored about their
 * runs.
 */
export async function run(): Promise<void> {
  const service = await openBenchService("node", { LEASE_SECONDS: LEASE_SECONDS.toString() });
  try {
    await work(service);
    const bytes = await readSize(service.folder);
    const texts = TASKS * TEXT_BYTES;
    printTable({
      title: "Growth",
      note: `${TASKS.toLocaleString("en-US")} tasks with different texts of ${TEXT_BYTES / 1_000} KB, each opened and run once.`,
      columns: ["", "MB", "to the texts"],
      rows: [
        ["the texts", Math.round(texts / MEGABYTE), "1.00"],
        ["the store on disk", Math.round(bytes / MEGABYTE), (bytes / texts).toFixed(2)],
      ],
    });
  } finally {
    await service.close();
  }
}

async function work(service: BenchService): Promise<void> {
  const { workspaceId, teamId } = service;
  const pool = await service.create(`/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "main" }, "pool");
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  await service.create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations }, "line");
  const open = (n: number) => {
    const description = randomBytes((TEXT_BYTES * 3) / 4).toString("base64");
    return service.create(`/api/teams/${teamId}/tasks`, { title: `Task ${n}`, description, line: "dev" }, `task-${n}`);
  };
  const runner = await connectRunner(service.port, String(pool.headers.get("service-pool-token")));
  runner.offer(AT_ONCE);
  for (let from = 0; from < TASKS; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => open(from + n)));
    await untilWorked(service);
  }
  runner.close();
}

async function untilWorked({ teamId, get }: BenchService): Promise<void> {
  for (;;) {
    const queued = JSON.parse(await get(`/api/teams/${teamId}/tasks?state=queued&limit=1`)) as { items: unknown[] };
    const running = JSON.parse(await get(`/api/teams/${teamId}/tasks?state=running&limit=1`)) as { items: unknown[] };
    if (queued.items.length + running.items.length === 0) return;
  }
}

async function readSize(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
