import { bullmq } from "./bullmq.js";
import { graphileWorker } from "./graphile-worker.js";
import { pgBoss } from "./pg-boss.js";
import type { QueueSetting } from "./queue.js";

/** All queue settings, in the order of the table's rows. */
export const queueSettings: readonly QueueSetting[] = [...bullmq, ...pgBoss, ...graphileWorker];
