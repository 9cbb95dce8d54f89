import { listAll, type Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { toJson, toLine } from "../command/printable.js";
import { openTopics } from "../command/topics.js";
import { nameRun, readRun } from "./current-task.js";
import { RunFollower } from "./follow-run.js";
import { People } from "./people.js";

export interface LogOptions extends CommonOptions {
  readonly follow?: true;
}

/**
 * Shows the steps of a run. With `--follow`, also shows new steps until the run ends. Returns exit code 1 if a followed
 * run did not complete.
 */
export async function showLogs(
  context: Context,
  { follow }: LogOptions,
  name: string | undefined,
): Promise<ExitCode | undefined> {
  const { isJson, terminal } = context;
  const run = await nameRun(context, name);
  const { id: runId } = run;
  if (isJson && follow !== true) {
    context.show({ items: await listSteps(context, runId) }, () => []);
    return undefined;
  }
  const people = await readPeople(context, run);
  const say = (line: string): void => (isJson ? terminal.note(line) : terminal.print(line));
  const follower = new RunFollower(context, runId, { people, isShort: false, say });
  if (follow !== true) {
    await follower.showSteps();
    if (run.steps === 0) terminal.note(`the run ${runId} has no steps yet`);
    return undefined;
  }
  await followRun(context, follower);
  if (isJson) context.show({ items: await listSteps(context, runId) }, () => []);
  return (await readRun(context, runId)).outcome === "completed" ? undefined : exitCodes.failed;
}

async function followRun(context: Context, follower: RunFollower): Promise<void> {
  const topics = openTopics(context);
  try {
    // Steps that happen during this read arrive with the stream.
    await follower.catchUp();
    if (!follower.isOver) topics.subscribe(`run/${follower.runId}`);
    while (!follower.isOver) {
      const message = await topics.next();
      if (message.kind === "error") throw new CommandError(toLine(toJson(message.data)));
      await follower.take(message);
    }
  } finally {
    topics.close();
  }
}

async function readPeople(context: Context, { taskId }: Schema<"Run">): Promise<People> {
  if (taskId === "") return await People.ofTeam(context, "");
  const { teamId } = await context.client.get("/api/tasks/{taskId}", { path: { taskId } });
  return await People.ofTeam(context, teamId);
}

async function listSteps({ client }: Context, runId: string): Promise<readonly Schema<"Step">[]> {
  const listed: Schema<"Step">[] = [];
  const steps = listAll(client, "/api/runs/{runId}/steps", "after", { path: { runId }, query: { limit: 200 } });
  for await (const step of steps) listed.push(step);
  return listed;
}
