import { type RunnerDisconnected, runnerRef } from "../../actors/runners/runner.messages.js";
import { listConnectedRunners } from "../../actors/runners/runner.queries.js";
import { isDamage, NotAccepted, type Runtime } from "../../runtime/runtime.js";

/**
 * Marks the runners that an earlier process had sockets with as disconnected: they get no runs until they reconnect,
 * and their leases start again to give them time for it. Call it before the service listens.
 */
export async function markDisconnected(runtime: Runtime): Promise<void> {
  const message: RunnerDisconnected = { type: "runner.adrift" };
  await Promise.all(
    listConnectedRunners(runtime.reading).map(async ({ workspaceId, runnerId }) => {
      try {
        await runtime.ask(runnerRef(workspaceId, runnerId), message);
      } catch (error) {
        // A directory entry may be stale: there is no runner any more. One whose record is damaged gets no runs at all.
        if (!(error instanceof NotAccepted) && !isDamage(error)) throw error;
      }
    }),
  );
}
