import type { RunnerDisconnected } from "../../actors/runners/runner.machine.js";
import { connectedRunners } from "../../actors/runners/runner.table.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";

/**
 * Tells the runners that an earlier process had sockets with that these are gone: nothing is placed there until they
 * come back, and their leases begin anew so that they can. Before the service listens.
 */
export async function markDisconnected(runtime: Runtime): Promise<void> {
  const message: RunnerDisconnected = { type: "runner.adrift" };
  const all = connectedRunners.list(runtime.reading, GLOBAL_PARTITION);
  await Promise.all(
    all.map(({ workspaceId, runnerId }) => runtime.ask(address(workspaceId, "runner", runnerId), message)),
  );
}
