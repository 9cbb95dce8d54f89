import type { Client } from "../../client/entry.js";
import type { Defaults } from "./defaults.js";
import { CommandError } from "./exit-codes.js";
import { type IdBeginning, parseIdBeginning, toIdAfter } from "./id-beginning.js";

/** What {@link findTaskId} and {@link findRunId} need. */
export interface WorkNames {
  readonly client: Client;
  readonly defaults: Defaults;
  /** Finds the team. A beginning of an id is looked up among its tasks. */
  readonly team: () => Promise<{ readonly id: string; readonly key: string }>;
}

/** Maximum number of tasks whose runs are searched for the beginning of a run's id. */
const TASKS_SEARCHED = 20;
/** Maximum number of ids in the error for a beginning that is not unique. */
const NAMED = 5;

/** Finds the id of a task by its id or a unique beginning of it. Default: the folder's last task. */
export async function findTaskId(names: WorkNames, name: string | undefined): Promise<string> {
  if (name === undefined) {
    if (names.defaults.task !== undefined) return names.defaults.task;
    throw new CommandError("name the task: signalbox task list shows the team's tasks");
  }
  const beginning = parseIdBeginning("task", name);
  if (beginning === null) throw new CommandError(`${name} is not the id of a task: signalbox task list shows them`);
  if (beginning.isWhole) return beginning.text;
  const team = await names.team();
  const before = toIdAfter("task", beginning);
  const { items } = await names.client.get("/api/teams/{teamId}/tasks", {
    path: { teamId: team.id },
    query: { limit: NAMED, ...(before === undefined ? {} : { before }) },
  });
  const found = pickBeginning("task", beginning, items);
  if (found !== null) return found;
  throw new CommandError(`the team ${team.key} has no task ${name}: signalbox task list shows its tasks`);
}

/**
 * Finds the id of a run. The name is the run's id, a beginning of it, or a task, which stands for its last run. A
 * beginning is looked up among the runs of the folder's task, then among those of the team's latest tasks; it must be
 * unique there. Default: the folder's run, or the last run of its task.
 */
export async function findRunId(names: WorkNames, name: string | undefined): Promise<string> {
  const { defaults } = names;
  if (name === undefined) {
    if (defaults.run !== undefined) return defaults.run;
    return await getLastRun(names, await findTaskId(names, undefined));
  }
  if (/^task_/i.test(name)) return await getLastRun(names, await findTaskId(names, name));
  const beginning = parseIdBeginning("run", name);
  if (beginning === null) throw new CommandError(`${name} is not the id of a run: signalbox task show lists them`);
  if (beginning.isWhole) return beginning.text;
  const { task } = defaults;
  const found = task === undefined ? null : pickBeginning("run", beginning, await listRuns(names, task));
  if (found !== null) return found;
  const team = await names.team();
  const path = { teamId: team.id };
  const { items } = await names.client.get("/api/teams/{teamId}/tasks", { path, query: { limit: TASKS_SEARCHED } });
  const runs = await Promise.all(items.map(({ id }) => listRuns(names, id)));
  const elsewhere = pickBeginning("run", beginning, runs.flat());
  if (elsewhere !== null) return elsewhere;
  throw new CommandError(`no run of the latest tasks begins with ${name}: give the whole id, or the task's`);
}

async function getLastRun(names: WorkNames, taskId: string): Promise<string> {
  const [last] = await listRuns(names, taskId, 1);
  if (last === undefined) throw new CommandError(`the task ${taskId} has no run yet`);
  return last.id;
}

async function listRuns({ client }: WorkNames, taskId: string, limit = 200): Promise<readonly { id: string }[]> {
  return (await client.get("/api/tasks/{taskId}/runs", { path: { taskId }, query: { limit } })).items;
}

/**
 * Returns the only id that begins with the text; null if there is none. Throws a {@link CommandError} if there are
 * several.
 */
function pickBeginning(what: string, { text }: IdBeginning, listed: readonly { readonly id: string }[]): string | null {
  const found = listed.filter(({ id }) => id.startsWith(text)).map(({ id }) => id);
  const [only, second] = found;
  if (second === undefined) return only ?? null;
  throw new CommandError(`several ${what}s begin with ${text}: ${found.slice(0, NAMED).join(", ")}`);
}
