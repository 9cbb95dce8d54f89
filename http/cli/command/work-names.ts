import type { Client } from "../../client/entry.js";
import type { Defaults } from "./defaults.js";
import { CommandError } from "./exit-codes.js";
import { type IdBeginning, parseIdBeginning, toIdAfter } from "./id-beginning.js";

/** What the names of tasks and runs are found with. */
export interface WorkNames {
  readonly client: Client;
  readonly defaults: Defaults;
  /** Finds the team whose tasks a beginning of an id is looked up in. */
  readonly team: () => Promise<{ readonly id: string; readonly key: string }>;
}

/** Tasks whose runs are searched for the beginning of a run's id. */
const TASKS_SEARCHED = 20;
/** Ids to name when a beginning is not unique. */
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
 * Finds the id of a run: by its id, by a unique beginning of it among the runs of the folder's task and of the team's
 * latest tasks, or by a task, which means that task's last run. Default: the folder's run, or its task's last run.
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

/** Picks the only id that begins so; null if there is none. */
function pickBeginning(what: string, { text }: IdBeginning, listed: readonly { readonly id: string }[]): string | null {
  const found = listed.filter(({ id }) => id.startsWith(text)).map(({ id }) => id);
  const [only, second] = found;
  if (second === undefined) return only ?? null;
  throw new CommandError(`several ${what}s begin with ${text}: ${found.slice(0, NAMED).join(", ")}`);
}
