import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import type { ExitCode } from "../command/exit-codes.js";
import { followTask } from "./follow-task.js";
import { People } from "./people.js";
import { readText } from "./read-text.js";

type Task = Schema<"Task">;

/** The option `--follow`. */
export interface FollowOption {
  readonly follow?: true;
}

/** The option `--task`. */
export interface TaskOption {
  readonly task?: string;
}

type Options = CommonOptions & FollowOption & TaskOption;

/** Answers the task's question. */
export async function answerTask(context: Context, options: Options, text: string): Promise<ExitCode | undefined> {
  const taskId = await context.names.task(options.task);
  const body = { text: await readText(context, text) };
  const task = await context.client.post("/api/tasks/{taskId}/answer", { path: { taskId }, body });
  return await report(context, options, { task, says: "answered" });
}

/** Adds a note, which later runs read. */
export async function addNote(context: Context, options: Options, text: string): Promise<ExitCode | undefined> {
  const taskId = await context.names.task(options.task);
  const body = { text: await readText(context, text) };
  const task = await context.client.post("/api/tasks/{taskId}/notes", { path: { taskId }, body });
  return await report(context, options, { task, says: "added a note" });
}

/** Moves the task to a station. */
export async function moveTask(context: Context, options: Options, station: string): Promise<ExitCode | undefined> {
  const taskId = await context.names.task(options.task);
  const task = await context.client.post("/api/tasks/{taskId}/move", { path: { taskId }, body: { to: station } });
  return await report(context, options, { task, says: `moved to ${task.station}` });
}

/** Assigns the task to a person, or to nobody. */
export async function assignTask(context: Context, options: Options, person: string): Promise<ExitCode | undefined> {
  const { client } = context;
  const taskId = await context.names.task(options.task);
  const { teamId } = await client.get("/api/tasks/{taskId}", { path: { taskId } });
  const people = await People.ofTeam(context, teamId);
  const assignee = await people.find(context, person);
  const task = await client.post("/api/tasks/{taskId}/assign", { path: { taskId }, body: { assignee } });
  return await report(context, options, { task, says: `assigned to ${people.name(assignee) ?? "nobody"}` });
}

/** Stops the task's run. */
export async function stopTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const path = { taskId: await context.names.task(name) };
  const task = await context.client.post("/api/tasks/{taskId}/stop", { path, body: {} });
  return await report(context, options, { task, says: "stopping the run" });
}

/** Runs the task's station again. */
export async function retryTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const path = { taskId: await context.names.task(name) };
  const task = await context.client.post("/api/tasks/{taskId}/retry", { path, body: {} });
  return await report(context, options, { task, says: `station ${task.station} runs again` });
}

/** Closes the task. */
export async function closeTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const path = { taskId: await context.names.task(name) };
  const task = await context.client.post("/api/tasks/{taskId}/close", { path, body: {} });
  return await report(context, options, { task, says: "closed" });
}

/**
 * Says what happened to the task and makes it the folder's default. With `--follow`, follows it and returns the exit
 * code.
 */
export async function report(
  context: Context,
  { follow }: FollowOption,
  { task, says }: { readonly task: Task; readonly says: string },
): Promise<ExitCode | undefined> {
  const { client, isJson, terminal } = context;
  const line = `${task.id}: ${says}`;
  context.remember({ task: task.id, run: undefined });
  if (follow !== true) {
    context.show(task, () => [line]);
    return undefined;
  }
  if (!isJson) terminal.print(line);
  const code = await followTask(context, task);
  if (isJson) context.show(await client.get("/api/tasks/{taskId}", { path: { taskId: task.id } }), () => []);
  return code;
}
