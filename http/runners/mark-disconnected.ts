import type { RunnerDisconnected } from "../../actors/runners/runner.messages.js";
import { connectedRunners } from "../../actors/runners/runner.table.js";
import { address } from "../../runtime/address.js";
import { NotAccepted, type Runtime } from "../../runtime/runtime.js";

/**
 * Tells the runners that an earlier process had sockets with that these are gone: nothing is placed there until they
 * come back, and their leases begin anew so that they can. Before the service listens.
 */
export async function markDisconnected(runtime: Runtime): Promise<void> {
  const message: RunnerDisconnected = { type: "runner.adrift" };
  await Promise.all(
    connectedRunners.list(runtime.reading).map(async ({ workspaceId, runnerId }) => {
      try {
        await runtime.ask(address(workspaceId, "runner", runnerId), message);
      } catch (error) {
        // The directory only leads: where there is no runner, none has to be told.
        if (!(error instanceof NotAccepted)) throw error;
      }
    }),
  );
}
