import type { Reading } from "../../storage/store.js";
import { seesOutcomes } from "../access/visibility.js";
import type { Caller } from "../caller.js";
import { runs } from "./run.table.js";

/** Whether there is such a run of the workspace and the caller may read how it goes. */
export function seesRun(reading: Reading, caller: Caller, workspaceId: string, runId: string): boolean {
  const run = runs.get(reading, workspaceId, runId);
  return run !== undefined && seesOutcomes(reading, caller, workspaceId, run.teamId);
}
