import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { nameRun } from "./current-task.js";
import { readText } from "./read-text.js";
import { onRun, onTask } from "./refusals.js";

/** The option `--run`. */
export interface RunOption extends CommonOptions {
  readonly run?: string;
}

/** Sends a message to a running agent. */
export async function sendMessage(context: Context, options: RunOption, text: string): Promise<void> {
  const { client } = context;
  const { id: runId } = await nameRun(context, options.run);
  const body = { text: await readText(context, text) };
  const step = await onRun(context, runId, client.post("/api/runs/{runId}/messages", { path: { runId }, body }));
  context.show(step, () => [`${runId}: sent, as step ${step.index}`]);
}

/** Stops a run. */
export async function stopRun(context: Context, _options: CommonOptions, name: string | undefined): Promise<void> {
  const { client } = context;
  const { id: runId, state, taskId } = await nameRun(context, name);
  if (state === "ended") throw new CommandError(`the run ${runId} has ended already`);
  if (taskId === "") throw new CommandError(`the run ${runId} belongs to no task: it cannot be stopped here`);
  const call = client.post("/api/tasks/{taskId}/stop", { path: { taskId }, body: {} });
  const task = await onTask(context, taskId, call);
  context.show(task, () => [`${runId}: stopping`]);
}
