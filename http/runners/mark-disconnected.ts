import { type RunnerDisconnected, runnerRef } from "../../actors/runners/runner.messages.js";
import { listConnectedRunners } from "../../actors/runners/runner.queries.js";
import { isDamage, NotAccepted, type Runtime } from "../../runtime/runtime.js";

/**
 * Marks the runners that were connected to an earlier process as disconnected. A disconnected runner gets no runs until
 * it reconnects. Its lease starts again, so that it has time to reconnect. Call this before the service listens.
 */
export async function markDisconnected(runtime: Runtime): Promise<void> {
  const message: RunnerDisconnected = { type: "runner.adrift" };
  await Promise.all(
    listConnectedRunners(runtime.reading).map(async ({ workspaceId, runnerId }) => {
      try {
        await runtime.ask(runnerRef(workspaceId, runnerId), message);
      } catch (error) {
        // Ignore a runner that no longer exists, because its directory entry may be stale. Also ignore a damaged
        // record, because such a runner gets no runs.
        if (!(error instanceof NotAccepted) && !isDamage(error)) throw error;
      }
    }),
  );
}
