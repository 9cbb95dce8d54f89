import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { nameRun } from "./name-run.js";
import { readText } from "./read-text.js";

/** The option `--run`. */
export interface RunOption extends CommonOptions {
  readonly run?: string;
}

/** Sends a message to a running agent. */
export async function sendMessage(context: Context, options: RunOption, text: string): Promise<void> {
  const { client } = context;
  const runId = await nameRun(context, options.run);
  const body = { text: await readText(context, text) };
  const step = await client.post("/api/runs/{runId}/messages", { path: { runId }, body });
  context.show(step, () => [`${runId}: sent, as step ${step.index}`]);
}

/** Stops a run. */
export async function stopRun(context: Context, _options: CommonOptions, name: string | undefined): Promise<void> {
  const { client } = context;
  const runId = await nameRun(context, name);
  const { state, taskId } = await client.get("/api/runs/{runId}", {
    path: { runId },
    query: { diff: "false" },
  });
  if (state === "ended") throw new CommandError(`the run ${runId} has ended already`);
  if (taskId === "") throw new CommandError(`the run ${runId} belongs to no task: it cannot be stopped here`);
  const task = await client.post("/api/tasks/{taskId}/stop", { path: { taskId }, body: {} });
  context.show(task, () => [`${runId}: stopping`]);
}
