import type { Context } from "../command/context.js";

/** Finds the run of a command, and makes it the folder's default if it was named. */
export async function nameRun(context: Context, name: string | undefined): Promise<string> {
  const runId = await context.names.run(name);
  if (name !== undefined) context.remember({ run: runId });
  return runId;
}
