import { type Job, Queue as JobQueue, Worker } from "bullmq";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { IN_FLIGHT } from "../support/hook-events.js";
import { type Adding, type Answer, inBatches, type Queue, type QueueSetting, type Work } from "./queue.js";
import { redis } from "./servers.js";

const QUEUE = "deliveries";

const addings: readonly Adding[] = ["each alone", "in batches"];

/** BullMQ settings. BullMQ keeps each job with its answer. */
export const bullmq: readonly QueueSetting[] = addings.map((adding) => ({
  name: `BullMQ, concurrency ${IN_FLIGHT}: added ${adding}, answers kept`,
  server: redis,
  open: (address, work) => open(address, work, adding),
}));

async function open(address: string, work: Work, adding: Adding): Promise<Queue> {
  const connection = { path: address, maxRetriesPerRequest: null };
  const queue = new JobQueue<WorkEvent, Answer>(QUEUE, { connection });
  const worker = new Worker<WorkEvent, Answer>(QUEUE, (job) => work.deliver(job.data), {
    connection,
    concurrency: IN_FLIGHT,
  });
  worker.on("completed", (job: Job<WorkEvent, Answer>) => work.ended(job.data.occurrence));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  const addGathered = inBatches((events: WorkEvent[]) =>
    queue.addBulk(events.map((event) => ({ name: "deliver", data: event }))),
  );
  return {
    add: (event) => (adding === "each alone" ? queue.add("deliver", event) : addGathered(event)),
    close: async () => {
      await worker.close();
      await queue.close();
    },
  };
}
