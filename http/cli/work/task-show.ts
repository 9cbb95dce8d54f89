import { ApiError, type Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import type { ExitCode } from "../command/exit-codes.js";
import { toLines } from "../command/printable.js";
import { toFields, toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";
import { type FollowOption, report } from "./change-task.js";
import { nameTask, rememberTask } from "./current-task.js";
import { describeNote } from "./note-lines.js";
import { People } from "./people.js";
import { toNamed } from "./refusals.js";
import { describeRunState } from "./run-state.js";

type Task = Schema<"Task">;
type RunItem = Schema<"RunInAList">;

/** Maximum number of runs to show with a task. */
const RUNS_SHOWN = 20;

/** Shows a task with its notes and latest runs, or follows it. */
export async function showTask(
  context: Context,
  options: CommonOptions & FollowOption,
  name: string | undefined,
): Promise<ExitCode | undefined> {
  const { client, isJson, terminal } = context;
  const path = { taskId: await nameTask(context, name) };
  const task = await client.get("/api/tasks/{taskId}", { path });
  if (options.follow === true) return await report(context, options, { task, says: `following: ${toNamed(task)}` });
  const runs = await listRuns(context, task.id);
  const people = await People.ofTeam(context, task.teamId);
  rememberTask(context, task.id);
  context.show({ ...task, runs }, () => [
    ...describeTask(context, task, people),
    ...section(context, "Description", task.description === "" ? [] : [toLines(task.description)]),
    ...section(
      context,
      "Notes",
      task.notes.flatMap((note) => describeNote(context, note, people)),
    ),
    ...section(context, "Runs", runs.length === 0 ? [] : describeRuns(context, runs)),
  ]);
  const next = toNext(task);
  if (next !== null && !isJson) terminal.note(next);
  return undefined;
}

/** Returns the next command for a task that waits for a person; null for other tasks. */
function toNext({ state, failure, approvals: [approval] }: Task): string | null {
  if (state !== "inbox") return null;
  if (approval !== undefined)
    return `answer it with: signalbox run approve ${approval.id}, or run dismiss ${approval.id}`;
  return failure === null
    ? 'answer it with: signalbox task answer "…"'
    : "run the station again with: signalbox task retry";
}

/** Lists the task's runs. Returns an empty list if the caller may not read the team's outcomes. */
async function listRuns({ client }: Context, taskId: string): Promise<readonly RunItem[]> {
  try {
    const query = { limit: RUNS_SHOWN };
    return (await client.get("/api/tasks/{taskId}/runs", { path: { taskId }, query })).items;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return [];
    throw error;
  }
}

function describeTask({ terminal }: Context, task: Task, people: People): readonly string[] {
  const { pullRequest, failure, asks, approvals } = task;
  const optional: readonly (readonly [string, string | null])[] = [
    ["link", task.url],
    ["reviews", task.reviews?.ref ?? null],
    ["pull request", pullRequest === null ? null : `${pullRequest.url} (${pullRequest.state})`],
    ["asks", failure?.message === asks ? null : asks],
    ["waits for", approvals.map(({ id, tool }) => `approval of ${tool} (${id})`).join(", ")],
    ["failed", failure?.message ?? null],
  ];
  return toFields(terminal, [
    ["task", task.id],
    ["title", task.title],
    ["state", task.state],
    ["station", `${task.line}/${task.station}`],
    ["assignee", people.name(task.assignee)],
    ["opened", `${toTimeText(terminal, task.openedAt)} by ${describeOpener(task.openedBy, people)}`],
    ...optional.filter(([, value]) => value !== null && value !== ""),
  ]);
}

function describeOpener(opener: Task["openedBy"], people: People): string | null {
  switch (opener?.kind) {
    case undefined:
      return "unknown";
    case "person":
      return people.name(opener.userId);
    case "token":
      return `token ${opener.name}`;
    case "station":
      return `station ${opener.station}`;
    case "integration":
      return `integration ${opener.key}`;
  }
}

function describeRuns({ terminal }: Context, runs: readonly RunItem[]): readonly string[] {
  return toTable(
    terminal,
    [
      { title: "run", of: ({ id }) => id },
      { title: "station", of: ({ station }) => station, isFlexible: true },
      { title: "queued", of: ({ queuedAt }) => toTimeText(terminal, queuedAt), isMinor: true },
      { title: "steps", of: ({ steps }) => steps, isMinor: true },
      { title: "state", of: (run) => describeRunState(run), isFlexible: true },
    ],
    runs,
  );
}

function section({ terminal }: Context, title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", terminal.paint("bold", title), ...lines];
}
