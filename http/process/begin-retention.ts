import { LONGEST_REST_MS, PASS, retentionRef } from "../../actors/tables/retention-sweeper.machine.js";
import { isStored, storedWakeUp } from "../../runtime/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/**
 * Begins to remove what is stored too long in workspaces that an earlier release made, and where the next pass was set by a
 * clock that was ahead: its time would begin anew with each process.
 */
export async function beginRetention(runtime: Runtime): Promise<void> {
  const { reading, clock } = runtime;
  const workspaces = listPartitions(reading).filter((partition) => partition !== GLOBAL_PARTITION);
  await Promise.all(
    workspaces.map(async (workspaceId) => {
      try {
        const to = retentionRef(workspaceId);
        const dueMs = storedWakeUp(reading, to, PASS) ?? 0;
        if (dueMs > clock.now() + LONGEST_REST_MS) await runtime.ask(to, { type: "retention.begin", isAnew: true });
        else if (!isStored(reading, to)) await runtime.ask(to, { type: "retention.begin" });
      } catch (error) {
        // The doctor repairs it; the service starts all the same.
        if (!isDamage(error)) throw error;
      }
    }),
  );
}
