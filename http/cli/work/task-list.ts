import { listAll } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type LimitOption, showList, takeItems, toPageSize } from "../command/list-limit.js";
import { toTable } from "../command/table.js";
import type { TASK_STATES } from "./filters.js";
import { People } from "./people.js";

/** Which tasks to list. */
export interface TaskFilter {
  readonly state?: (typeof TASK_STATES)[number];
  readonly line?: string;
  readonly station?: string;
  readonly assignee?: string;
}

/** Lists the team's tasks. */
export async function listTasks(context: Context, options: TaskFilter & LimitOption & CommonOptions): Promise<void> {
  const { client, names, terminal } = context;
  const { state, station, limit } = options;
  const team = await names.team();
  const people = await People.read(context, team.workspace.slug);
  const line = options.line === undefined ? undefined : (await names.line(options.line)).line.key;
  const assignee = options.assignee === undefined ? undefined : await people.find(context, options.assignee);
  const tasks = listAll(client, "/api/teams/{teamId}/tasks", "before", {
    path: { teamId: team.id },
    query: {
      limit: toPageSize(limit),
      ...(state === undefined ? {} : { state }),
      ...(line === undefined ? {} : { line }),
      ...(station === undefined ? {} : { station }),
      ...(assignee === undefined ? {} : { assignee: assignee ?? "none" }),
    },
  });
  const list = await takeItems(tasks, limit);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const isFiltered = [state, line, station, assignee].some((filter) => filter !== undefined);
  showList(context, list, {
    none: isFiltered
      ? `no matching tasks in the team ${team.key}`
      : `the team ${team.key} has no tasks: open one with signalbox task open "<title>"`,
    toLines: () =>
      toTable(
        terminal,
        [
          { title: "task", of: ({ id }) => id },
          { title: "state", of: (task) => task.state },
          { title: "station", of: (task) => `${task.line}/${task.station}`, isFlexible: true },
          { title: "assignee", of: (task) => people.name(task.assignee), isFlexible: true },
          { title: "title", of: ({ title }) => title, isFlexible: true },
        ],
        list.items,
      ),
  });
}
