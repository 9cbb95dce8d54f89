import { LONGEST_REST_MS, PASS, retentionRef } from "../../actors/tables/retention-sweeper.machine.js";
import { isStored, storedWakeUp } from "../../runtime/messages/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { listLaterTimers } from "../../runtime/schedule/timers.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/** Starts retention in workspaces that an earlier release created. Returns whether all workspaces could be read. */
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
 * Reschedules retention passes that were set while the clock was ahead. Otherwise every new process would wait for them
 * again. It reads only wake-ups later than any pass that could be scheduled now. Returns whether all their workspaces
 * could be read.
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

/** Returns false if the work met a damaged row. `signalbox doctor` repairs the damage; the service starts anyway. */
async function pastDamage(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}
