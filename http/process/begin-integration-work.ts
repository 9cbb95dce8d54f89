import { listSetWork } from "../../actors/integration-work/set-work.queries.js";
import { isStored } from "../../runtime/messages/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/**
 * Starts the polls and schedules of integrations that an earlier release stored, because that release had neither.
 * Returns whether all workspaces could be read.
 */
export async function beginIntegrationWork(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  let isWhole = true;
  for (const workspaceId of listPartitions(reading)) {
    if (workspaceId === GLOBAL_PARTITION) continue;
    try {
      for (const { poll, schedules } of listSetWork(reading, workspaceId)) {
        if (poll !== null && !isStored(reading, poll)) await runtime.ask(poll, { type: "poll.check" });
        for (const schedule of schedules)
          if (!isStored(reading, schedule)) await runtime.ask(schedule, { type: "schedule.check" });
      }
    } catch (error) {
      // `signalbox doctor` repairs the damage. The service starts anyway.
      if (!isDamage(error)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}
