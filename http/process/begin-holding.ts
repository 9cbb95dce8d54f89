import { type HoldEntryCommits, replaySetsRef } from "../../actors/replays/sets/replay-set.messages.js";
import { listTeamsToHold } from "../../actors/replays/sets/replay-set.queries.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";

/**
 * Stores the commits that runs in replay sets of an earlier release started from. Returns whether all workspaces could
 * be read.
 */
export async function beginHolding(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  const message: HoldEntryCommits = { type: "commits.hold" };
  let isWhole = true;
  for (const workspaceId of listPartitions(reading).filter((partition) => partition !== GLOBAL_PARTITION)) {
    try {
      for (const teamId of listTeamsToHold(reading, workspaceId)) {
        await runtime.ask(replaySetsRef(workspaceId, teamId), message);
      }
    } catch (error) {
      // `signalbox doctor` repairs the damage. The service starts anyway.
      if (!isDamage(error)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}
