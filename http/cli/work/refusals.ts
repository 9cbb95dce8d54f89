import { ApiError, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { toLine } from "../command/printable.js";
import { readRun } from "./current-task.js";

/** For each task state, the end of the message for a refused call: the state, and what the person can do. */
const STATES: Readonly<Record<Schema<"Task">["state"], string>> = {
  queued: "queued, so no agent has started: move it with signalbox task move, or close it with signalbox task close",
  running:
    'running: write to its agent with signalbox run message "…", or stop it with signalbox task stop and try again',
  inbox: "in the inbox, so it has no run: signalbox task show says what it waits for",
  done: 'done: open another task with signalbox task open "<title>"',
  closed: 'closed: open another task with signalbox task open "<title>"',
};

/**
 * Waits for a call about a task. If the task's state or assignee does not permit the call, throws a {@link
 * CommandError} that names the task. For an unassigned task, the message says how to assign it.
 */
export async function onTask<Result>(context: Context, taskId: string, call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw await explain(context, error, { taskId });
  }
}

/** Like {@link onTask}, for a call about a run. */
export async function onRun<Result>(context: Context, runId: string, call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!isAboutTask(error)) throw error;
    const { taskId } = await readRun(context, runId);
    throw taskId === "" ? error : await explain(context, error, { taskId, runId });
  }
}

/** Names a task with its title, such as `Fix the tests (task_01…)`. */
export function toNamed({ id, title }: { readonly id: string; readonly title: string }): string {
  return `${toLine(title)} (${id})`;
}

/** Whether the service refused the call because of the task's state or assignee. */
function isAboutTask(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.status === 409 || (error.status === 403 && error.problem?.permission === undefined);
}

async function explain(
  { client }: Context,
  error: unknown,
  { taskId, runId }: { readonly taskId: string; readonly runId?: string },
): Promise<unknown> {
  if (!isAboutTask(error)) return error;
  const task = await client.get("/api/tasks/{taskId}", { path: { taskId } }).catch(() => null);
  if (task === null) return error;
  const named = runId === undefined ? toNamed(task) : `${runId} of ${toNamed(task)}`;
  if (/which does not accept \w+\.$/.test(error.message)) {
    const { state } = task;
    return new CommandError(`${named}: the task is ${STATES[state]}`, exitCodes.failed, { cause: error });
  }
  const isUnassigned = error.status === 403 && task.assignee === null;
  const next = isUnassigned ? `\nassign it to yourself: signalbox task assign me --task ${taskId}` : "";
  return new CommandError(`${named}: ${error.message}${next}`, exitCodes.failed, { cause: error });
}
