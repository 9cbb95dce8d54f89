import { LONGEST_REST_MS, PASS, retentionRef } from "../../actors/tables/retention-sweeper.machine.js";
import { isStored, storedWakeUp } from "../../runtime/messages/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { listLaterTimers } from "../../runtime/schedule/timers.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/**
 * Begins to remove what is stored too long in workspaces that an earlier release made. Returns whether all of them could
 * be read.
 */
export async function beginRetention(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  const workspaces = listPartitions(reading).filter((partition) => partition !== GLOBAL_PARTITION);
  const begun = workspaces.map((workspaceId) =>
    pastDamage(async () => {
      const to = retentionRef(workspaceId);
      if (!isStored(reading, to)) await runtime.ask(to, { type: "retention.begin" });
    }),
  );
  return (await Promise.all(begun)).every((isRead) => isRead);
}

/**
 * Sets the passes anew that a clock set that was ahead: their time would begin anew with each process. Reads the wake-ups
 * that are due after any pass that is set now. Returns whether all of their workspaces could be read.
 */
export async function bringPassesForward(runtime: Runtime): Promise<boolean> {
  const { reading, clock } = runtime;
  const latestMs = clock.now() + LONGEST_REST_MS;
  let isWhole = true;
  for (const { to: late, name } of listLaterTimers(reading, latestMs)) {
    const to = retentionRef(late.partition);
    if (name !== PASS || late.kind !== to.kind) continue;
    const isRead = await pastDamage(async () => {
      if ((storedWakeUp(reading, to, PASS) ?? 0) <= latestMs) return;
      await runtime.ask(to, { type: "retention.begin", isAnew: true });
    });
    isWhole &&= isRead;
  }
  return isWhole;
}

/** False when a damaged row is in the way: the doctor repairs it; the service starts all the same. */
async function pastDamage(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}
