import { EventEmitter } from "node:events";
import { Logger, makeWorkerUtils, run, type WorkerEvents } from "graphile-worker";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { IN_FLIGHT } from "../support/hook-events.js";
import { type Adding, inBatches, type Queue, type QueueSetting, type Work } from "./queue.js";
import { postgres } from "./servers.js";

const TASK = "deliver";
const LOCAL_QUEUE = 500;
/** The settings with the lowest CPU time of those that graphile-worker's documentation names for throughput. */
const settings = {
  concurrentJobs: IN_FLIGHT,
  maxPoolSize: 25,
  pollInterval: 50,
  localQueue: { size: LOCAL_QUEUE, refetchDelay: { durationMs: 50, threshold: 100, maxAbortThreshold: 200 } },
  completeJobBatchDelay: 10,
  failJobBatchDelay: 10,
};
const addings: readonly Adding[] = ["each alone", "in batches"];

/**
 * The measured graphile-worker settings. graphile-worker removes finished jobs in batches, and does not report when the
 * removal is on disk. So the time of a delivery ends when the receiver answers.
 */
export const graphileWorker: readonly QueueSetting[] = addings.map((adding) => ({
  name: `graphile-worker, local queue of ${LOCAL_QUEUE}: added ${adding}, removed in batches`,
  server: postgres,
  open: (address, work) => open(address, work, adding),
}));

async function open(address: string, work: Work, adding: Adding): Promise<Queue> {
  const logger = new Logger(() => () => undefined);
  const place = { connectionString: address, maxPoolSize: settings.maxPoolSize };
  const utils = await makeWorkerUtils({ ...place, logger });
  await utils.migrate();
  const deliver = async (payload: unknown) => void (await work.deliver(payload as WorkEvent));
  const events: WorkerEvents = new EventEmitter();
  events.on("job:complete", ({ job }) => work.ended((job.payload as WorkEvent).occurrence));
  const runner = await run({
    taskList: { [TASK]: deliver },
    noHandleSignals: true,
    events,
    logger,
    preset: { worker: { ...place, ...settings } },
  });
  const addGathered = inBatches((gathered: WorkEvent[]) =>
    utils.addJobs(gathered.map((event) => ({ identifier: TASK, payload: event }))),
  );
  return {
    add: (event) => (adding === "each alone" ? utils.addJob(TASK, event) : addGathered(event)),
    close: async () => {
      await runner.stop();
      await utils.release();
    },
  };
}
