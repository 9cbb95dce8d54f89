import { scheduleRef } from "../../actors/integration-work/schedule.messages.js";
import { listSetSchedules } from "../../actors/integration-work/schedule.queries.js";
import { isStored } from "../../runtime/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/** Begins the schedules of integrations that an earlier release stored; it ran none. */
export async function beginIntegrationWork(runtime: Runtime): Promise<void> {
  const { reading } = runtime;
  for (const workspaceId of listPartitions(reading)) {
    if (workspaceId === GLOBAL_PARTITION) continue;
    try {
      for (const schedule of listSetSchedules(reading, workspaceId)) {
        const to = scheduleRef(schedule);
        if (!isStored(reading, to)) await runtime.ask(to, { type: "schedule.check" });
      }
    } catch (error) {
      // The doctor repairs it; the service starts all the same.
      if (!isDamage(error)) throw error;
    }
  }
}
