import type { Client } from "../../client/entry.js";
import type { Defaults } from "./defaults.js";
import { CommandError } from "./exit-codes.js";
import { type IdPrefix, parseIdPrefix, pickId, toIdAfter } from "./id-prefix.js";

/** The inputs of {@link findTaskId} and {@link findRunId}. */
export interface WorkNames {
  readonly client: Client;
  readonly defaults: Defaults;
  /** Finds the team whose tasks are searched for an id prefix. */
  readonly team: () => Promise<{ readonly id: string; readonly key: string }>;
}

/** Maximum number of tasks whose runs are searched for the prefix of a run's id. */
const TASKS_SEARCHED = 20;
/** Maximum number of matching tasks to read for a prefix. If several match, the error names them. */
const LISTED = 6;

/** Finds the id of a task by the id or a unique id prefix. Default: the current task of the folder. */
export async function findTaskId(names: WorkNames, name: string | undefined): Promise<string> {
  if (name === undefined) {
    if (names.defaults.task !== undefined) return names.defaults.task;
    throw new CommandError("no task given, and none used in this folder yet: signalbox task list shows them");
  }
  const prefix = parseIdPrefix("task", name);
  if (prefix === null) throw new CommandError(`${name} is not a task id: signalbox task list shows them`);
  if (prefix.isWhole) return prefix.text;
  const team = await names.team();
  const before = toIdAfter("task", prefix);
  const { items } = await names.client.get("/api/teams/{teamId}/tasks", {
    path: { teamId: team.id },
    query: { limit: LISTED, ...(before === undefined ? {} : { before }) },
  });
  const found = findId(prefix, items);
  if (found !== null) return found;
  throw new CommandError(`the team ${team.key} has no task ${name}: signalbox task list shows its tasks`);
}

/**
 * Finds the id of a run. `name` is one of these:
 *
 * - the run's id
 * - an id prefix: the function searches the runs of the current task, then the runs of the team's latest tasks, and
 *   the prefix must be unique among them
 * - a task: the function returns the task's last run
 *
 * Default: the current run of the folder, or the last run of its current task.
 */
export async function findRunId(names: WorkNames, name: string | undefined): Promise<string> {
  const { defaults } = names;
  if (name === undefined) {
    if (defaults.run !== undefined) return defaults.run;
    return await getLastRun(names, await findTaskId(names, undefined));
  }
  if (/^task_/i.test(name)) return await getLastRun(names, await findTaskId(names, name));
  const prefix = parseIdPrefix("run", name);
  if (prefix === null) throw new CommandError(`${name} is not a run id: signalbox task show lists the runs of a task`);
  if (prefix.isWhole) return prefix.text;
  const { task } = defaults;
  const found = task === undefined ? null : findId(prefix, await listRuns(names, task));
  if (found !== null) return found;
  const team = await names.team();
  const path = { teamId: team.id };
  const { items } = await names.client.get("/api/teams/{teamId}/tasks", { path, query: { limit: TASKS_SEARCHED } });
  const runs = await Promise.all(items.map(({ id }) => listRuns(names, id)));
  const elsewhere = findId(prefix, runs.flat());
  if (elsewhere !== null) return elsewhere;
  throw new CommandError(
    `none of the ${items.length} latest tasks has a run with the prefix ${name}: give the whole id`,
  );
}

async function getLastRun(names: WorkNames, taskId: string): Promise<string> {
  const [last] = await listRuns(names, taskId, 1);
  if (last === undefined) throw new CommandError(`the task ${taskId} has no run yet`);
  return last.id;
}

async function listRuns({ client }: WorkNames, taskId: string, limit = 200): Promise<readonly { id: string }[]> {
  return (await client.get("/api/tasks/{taskId}/runs", { path: { taskId }, query: { limit } })).items;
}

/** Returns the only id with the prefix; null if there is none. Throws a {@link CommandError} if there are several. */
function findId({ text }: IdPrefix, listed: readonly { readonly id: string }[]): string | null {
  const ids = listed.map(({ id }) => id);
  const picked = pickId(text, ids);
  return ids.includes(picked) ? picked : null;
}
