import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";

type RunItem = Schema<"RunInAList">;

/** A run that changed files. */
export interface RunWithChanges {
  readonly run: Pick<RunItem, "id" | "station">;
  /** Whether this run was queued after the run that {@link findRunWithChanges} received. */
  readonly isLater: boolean;
}

/** Maximum number of runs whose changes are read. */
const RUNS_READ = 10;

/**
 * Finds the latest other run of the same task that has ended with changes, among the task's {@link RUNS_READ} latest
 * runs. Null if there is none, or if the run belongs to no task.
 */
export async function findRunWithChanges(
  { client }: Context,
  { id, taskId }: Pick<Schema<"Run">, "id" | "taskId">,
): Promise<RunWithChanges | null> {
  if (taskId === "") return null;
  const query = { limit: RUNS_READ };
  const { items } = await client.get("/api/tasks/{taskId}/runs", { path: { taskId }, query });
  let isLater = true;
  for (const run of items) {
    if (run.id === id) isLater = false;
    else if (run.state === "ended") {
      const diff = await client.get("/api/runs/{runId}/diff", { path: { runId: run.id } });
      if (diff !== "") return { run, isLater };
    }
  }
  return null;
}
