import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { orNull } from "../command/names.js";

/**
 * The current task is the task that a command named last, by the task's id or by the id of one of its runs. The current
 * run is the run that a command named last, if it belongs to the current task. Both are defaults of the folder.
 */

/** Finds the id of the task that a command names. Default: the current task. */
export async function nameTask(context: Context, name: string | undefined): Promise<string> {
  if (name === undefined) await forgetGone(context);
  return await context.names.task(name);
}

/**
 * Finds the run that a command names, without its diff. Default: the current run, or the last run of the current task.
 * A task's name selects the task's last run.
 *
 * A named run and its task become the current ones. If the name is a task, only the task becomes the current one.
 */
export async function nameRun(context: Context, name: string | undefined): Promise<Schema<"Run">> {
  if (name === undefined) await forgetGone(context);
  const run = await readRun(context, await context.names.run(name));
  if (name === undefined || run.taskId === "") return run;
  if (/^task_/i.test(name)) rememberTask(context, run.taskId);
  else context.remember({ task: run.taskId, run: run.id });
  return run;
}

/** Makes a task the current one. The current run stays only if it belongs to the task. */
export function rememberTask(context: Context, taskId: string): void {
  context.remember(context.defaults.task === taskId ? { task: taskId } : { task: taskId, run: undefined });
}

export function readRun({ client }: Context, runId: string): Promise<Schema<"Run">> {
  return client.get("/api/runs/{runId}", { path: { runId }, query: { diff: "false" } });
}

/** Forgets a current run or task that no longer exists, or that the caller may no longer read. */
async function forgetGone(context: Context): Promise<void> {
  const { client, defaults, terminal } = context;
  const { task: taskId, run: runId } = defaults;
  if (runId !== undefined) {
    const run = await orNull(readRun(context, runId));
    if (run === null || run.taskId !== taskId) context.remember({ run: undefined });
    else return;
  }
  if (taskId === undefined || (await orNull(client.get("/api/tasks/{taskId}", { path: { taskId } }))) !== null) return;
  context.remember({ task: undefined });
  terminal.note(`the last task, ${taskId}, no longer exists`);
}
