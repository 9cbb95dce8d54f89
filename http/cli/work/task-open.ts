import { ApiError, listAll } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import type { ExitCode } from "../command/exit-codes.js";
import { toLine } from "../command/printable.js";
import { type FollowOption, report } from "./change-task.js";
import { People } from "./people.js";
import { readText } from "./read-text.js";

export interface TaskOpening extends CommonOptions, FollowOption {
  readonly line?: string;
  readonly station?: string;
  readonly description?: string;
  readonly assign?: string;
  readonly link?: string;
  readonly reviewBranch?: string;
  readonly reviewPullRequest?: string;
}

/** Opens a task, and makes it the current one. */
export async function openTask(context: Context, options: TaskOpening, title: string): Promise<ExitCode | undefined> {
  const { client, names, isJson, terminal } = context;
  const { station, description, assign, link, reviewBranch, reviewPullRequest } = options;
  const { team, line } = await names.line(options.line);
  const { workspace } = team;
  const assignee =
    assign === undefined ? undefined : await (await People.read(context, workspace.slug)).find(context, assign);
  const task = await client.post("/api/teams/{teamId}/tasks", {
    path: { teamId: team.id },
    body: {
      title,
      line: line.key,
      ...(station === undefined ? {} : { station }),
      ...(description === undefined ? {} : { description: await readText(context, description) }),
      ...(assignee === undefined ? {} : { assignee }),
      ...(link === undefined ? {} : { url: link }),
      ...(reviewBranch === undefined ? {} : { branch: reviewBranch }),
      ...(reviewPullRequest === undefined ? {} : { pullRequest: reviewPullRequest }),
    },
  });
  context.remember({ workspace: workspace.slug, team: team.key, line: line.key });
  const says = `${task.id}: opened at ${team.key}/${task.line}, station ${task.station}: ${toLine(title)}`;
  const code = await report(context, options, { task, says });
  if (options.follow !== true && !isJson) {
    if (!(await hasRunner(context, workspace.slug))) {
      terminal.note("no runner is connected: the task waits for one (signalbox runner --help says how to start one)");
    }
    terminal.note("follow it with: signalbox task show --follow");
  }
  return code;
}

/**
 * Whether a runner of the workspace is connected. Also true if the service refuses to list the runners, for example
 * because the caller lacks the permission.
 */
async function hasRunner({ client }: Context, slug: string): Promise<boolean> {
  const runners = listAll(client, "/api/workspaces/{slug}/runners", "after", { path: { slug }, query: { limit: 200 } });
  try {
    for await (const { connected } of runners) if (connected) return true;
    return false;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}
