import { setTimeout as pause } from "node:timers/promises";
import PgBoss from "pg-boss";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { IN_FLIGHT } from "../support/hook-events.js";
import { type Adding, inBatches, type Queue, type QueueSetting, type Work } from "./queue.js";
import { postgres } from "./servers.js";

const QUEUE = "deliveries";
const WORKERS = 2;
const BATCH = IN_FLIGHT / WORKERS;
/**
 * How long a worker waits after it found no job, in milliseconds: `EMPTY_MS` while jobs are in progress, `IDLE_MS`
 * while no job is in progress.
 */
const EMPTY_MS = 2;
const IDLE_MS = 50;

/** Jobs are completed one by one with their answers, or in batches without answers. */
type Completing = "each alone, answers kept" | "in batches without answers";

const ways: readonly (readonly [Adding, Completing])[] = [
  ["each alone", "each alone, answers kept"],
  ["each alone", "in batches without answers"],
  ["in batches", "in batches without answers"],
];

/**
 * pg-boss settings. A worker fetches jobs in batches, without pg-boss's own pauses between polls. pg-boss keeps each
 * job.
 */
export const pgBoss: readonly QueueSetting[] = ways.map(([adding, completing]) => ({
  name: `pg-boss, ${WORKERS} workers with batches of ${BATCH}: added ${adding}, completed ${completing}`,
  server: postgres,
  open: (address, work) => open(address, work, { adding, completing }),
}));

async function open(
  address: string,
  work: Work,
  { adding, completing }: { readonly adding: Adding; readonly completing: Completing },
): Promise<Queue> {
  const boss = new PgBoss({ connectionString: address, supervise: false, schedule: false });
  boss.on("error", (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(QUEUE);
  const addGathered = inBatches((events: WorkEvent[]) =>
    boss.insert(events.map((event) => ({ name: QUEUE, data: event }))),
  );
  const handle = completing === "in batches without answers" ? handleTogether : handleEach;
  const closing = new AbortController();
  let underWay = 0;
  const serve = async () => {
    while (!closing.signal.aborted) {
      const jobs = await boss.fetch<WorkEvent>(QUEUE, { batchSize: BATCH, priority: false });
      if (jobs.length === 0) await pause(underWay > 0 ? EMPTY_MS : IDLE_MS);
      else await handle(boss, work, jobs);
      underWay -= jobs.length;
    }
  };
  const workers = Array.from({ length: WORKERS }, serve);
  return {
    add: (event) => {
      underWay += 1;
      return adding === "each alone" ? boss.send(QUEUE, event) : addGathered(event);
    },
    close: async () => {
      closing.abort();
      await Promise.all(workers);
      await boss.stop({ graceful: false, wait: true });
    },
  };
}

type Jobs = readonly PgBoss.Job<WorkEvent>[];

async function handleTogether(boss: PgBoss, work: Work, jobs: Jobs): Promise<void> {
  await Promise.all(jobs.map(({ data }) => work.deliver(data)));
  const ids = jobs.map(({ id }) => id);
  await boss.complete(QUEUE, ids);
  for (const { data } of jobs) work.ended(data.occurrence);
}

async function handleEach(boss: PgBoss, work: Work, jobs: Jobs): Promise<void> {
  const handleJob = async ({ id, data }: PgBoss.Job<WorkEvent>) => {
    await boss.complete(QUEUE, id, await work.deliver(data));
    work.ended(data.occurrence);
  };
  await Promise.all(jobs.map(handleJob));
}
