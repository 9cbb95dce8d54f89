import { type RunnerDisconnected, runnerRef } from "../../actors/runners/runner.messages.js";
import { listConnectedRunners } from "../../actors/runners/runner.queries.js";
import { NotAccepted, type Runtime } from "../../runtime/runtime.js";

/**
 * Tells the runners that an earlier process had sockets with that these are gone: nothing is placed there until they
 * come back, and their leases begin anew so that they can. Before the service listens.
 */
export async function markDisconnected(runtime: Runtime): Promise<void> {
  const message: RunnerDisconnected = { type: "runner.adrift" };
  await Promise.all(
    listConnectedRunners(runtime.reading).map(async ({ workspaceId, runnerId }) => {
      try {
        await runtime.ask(runnerRef(workspaceId, runnerId), message);
      } catch (error) {
        // The directory only leads: where there is no runner, none has to be told.
        if (!(error instanceof NotAccepted)) throw error;
      }
    }),
  );
}
