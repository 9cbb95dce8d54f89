import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import type { ExitCode } from "../command/exit-codes.js";
import { nameTask, rememberTask } from "./current-task.js";
import { followTask } from "./follow-task.js";
import { People } from "./people.js";
import { readText } from "./read-text.js";
import { onTask, toNamed } from "./refusals.js";

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
  const taskId = await nameTask(context, options.task);
  const body = { text: await readText(context, text) };
  const call = context.client.post("/api/tasks/{taskId}/answer", { path: { taskId }, body });
  const task = await onTask(context, taskId, call);
  return await report(context, options, { task, says: `answered: ${toNamed(task)}`, startsRun: true });
}

/** Adds a note, which later runs read. */
export async function addNote(context: Context, options: Options, text: string): Promise<ExitCode | undefined> {
  const taskId = await nameTask(context, options.task);
  const body = { text: await readText(context, text) };
  const call = context.client.post("/api/tasks/{taskId}/notes", { path: { taskId }, body });
  const task = await onTask(context, taskId, call);
  return await report(context, options, { task, says: `added a note: ${toNamed(task)}` });
}

/** Moves the task to a station. */
export async function moveTask(context: Context, options: Options, station: string): Promise<ExitCode | undefined> {
  const taskId = await nameTask(context, options.task);
  const call = context.client.post("/api/tasks/{taskId}/move", { path: { taskId }, body: { to: station } });
  const task = await onTask(context, taskId, call);
  const says = `moved to ${task.station}: ${toNamed(task)}`;
  return await report(context, options, { task, says, startsRun: true });
}

/** Assigns the task to a person, or to nobody. */
export async function assignTask(context: Context, options: Options, person: string): Promise<ExitCode | undefined> {
  const { client } = context;
  const taskId = await nameTask(context, options.task);
  const { teamId } = await client.get("/api/tasks/{taskId}", { path: { taskId } });
  const people = await People.ofTeam(context, teamId);
  const assignee = await people.find(context, person);
  const call = client.post("/api/tasks/{taskId}/assign", { path: { taskId }, body: { assignee } });
  const task = await onTask(context, taskId, call);
  const says = `assigned to ${people.name(assignee) ?? "nobody"}: ${toNamed(task)}`;
  return await report(context, options, { task, says });
}

/** Stops the task's run. */
export async function stopTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const taskId = await nameTask(context, name);
  const call = context.client.post("/api/tasks/{taskId}/stop", { path: { taskId }, body: {} });
  const task = await onTask(context, taskId, call);
  return await report(context, options, { task, says: `stopping the run: ${toNamed(task)}` });
}

/** Runs the task's station again. */
export async function retryTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const taskId = await nameTask(context, name);
  const call = context.client.post("/api/tasks/{taskId}/retry", { path: { taskId }, body: {} });
  const task = await onTask(context, taskId, call);
  const says = `station ${task.station} runs again: ${toNamed(task)}`;
  return await report(context, options, { task, says, startsRun: true });
}

/** Closes the task. */
export async function closeTask(context: Context, options: Options, name?: string): Promise<ExitCode | undefined> {
  const taskId = await nameTask(context, name);
  const call = context.client.post("/api/tasks/{taskId}/close", { path: { taskId }, body: {} });
  const task = await onTask(context, taskId, call);
  return await report(context, options, { task, says: `closed: ${toNamed(task)}` });
}

/** What a command did to a task. */
interface TaskReport {
  readonly task: Task;
  /** A line that names the task. */
  readonly says: string;
  /** Whether the task gets a new run, which then becomes the default of later commands. */
  readonly startsRun?: true;
}

/**
 * Says what happened to the task and makes the task the current one. With `--follow`, follows the task and returns the
 * exit code.
 */
export async function report(
  context: Context,
  { follow }: FollowOption,
  { task, says, startsRun }: TaskReport,
): Promise<ExitCode | undefined> {
  const { client, isJson, terminal } = context;
  rememberTask(context, task.id);
  if (follow === true || startsRun === true) context.remember({ run: undefined });
  if (follow !== true) {
    context.show(task, () => [says]);
    return undefined;
  }
  if (!isJson) terminal.print(says);
  const code = await followTask(context, task);
  if (isJson) context.show(await client.get("/api/tasks/{taskId}", { path: { taskId: task.id } }), () => []);
  return code;
}
