import { z } from "zod";
import { ApiError, type Schema } from "../../client/entry.js";
import { toLine } from "../command/printable.js";
import { People } from "../work/people.js";
import { commonInputs, defineTool, type ToolCall } from "./tool.js";
import { cut, type UntrustedText } from "./tool-output.js";
import {
  describeList,
  describeRun,
  describeTask,
  MAX_TEXT,
  runView,
  taskView,
  toRunView,
  toTaskView,
  untrusted,
} from "./views.js";

const { team, idempotencyKey } = commonInputs;

export const taskInput = z.string().max(100).describe("Task id, or a unique prefix of it");

const NOTES_SHOWN = 20;
const RUNS_SHOWN = 20;

const openTask = defineTool({
  name: "task_open",
  description:
    "Open a task: hand work over to the agents of a line. The task starts at the line's first station, assigned to the " +
    "person, and runs without you. Say in the description all that the agent needs to know.",
  effect: { kind: "adds" },
  input: z.strictObject({
    title: z.string().min(1).describe("What to do, in one line"),
    description: z.string().optional().describe("What to do, in detail"),
    line: z.string().max(200).optional().describe("Line: its key, or <team>/<line>. Default: the last or only one."),
    station: z.string().max(100).optional().describe("Key of the station to start at"),
    assign: z.string().max(300).optional().describe("Mail address, name or id of a person; me (default) or none"),
    link: z.string().optional().describe("Address of what the task is about, such as an issue"),
    reviewBranch: z.string().optional().describe("Review this branch without changing it"),
    reviewPullRequest: z.string().optional().describe("Address of a pull request to review without changing it"),
    team,
    idempotencyKey,
  }),
  output: taskView,
  run: async ({ context, idempotencyKey }, input) => {
    const { title, description, station, assign, link, reviewBranch, reviewPullRequest } = input;
    const { team, line } = await context.names.line(input.line);
    const assignee =
      assign === undefined ? undefined : await (await People.read(context, team.workspace.slug)).find(context, assign);
    const task = await context.client.post("/api/teams/{teamId}/tasks", {
      path: { teamId: team.id },
      body: {
        title,
        line: line.key,
        ...(station === undefined ? {} : { station }),
        ...(description === undefined ? {} : { description }),
        ...(assignee === undefined ? {} : { assignee }),
        ...(link === undefined ? {} : { url: link }),
        ...(reviewBranch === undefined ? {} : { branch: reviewBranch }),
        ...(reviewPullRequest === undefined ? {} : { pullRequest: reviewPullRequest }),
      },
      idempotencyKey,
    });
    return {
      says: `Opened ${task.id} at ${team.workspace.slug}/${team.key}/${task.line}, station ${task.station}.`,
      data: toTaskView(task),
    };
  },
});

const listTasks = defineTool({
  name: "task_list",
  description: "List the tasks of a team, newest first.",
  effect: { kind: "reads" },
  input: z.strictObject({
    team,
    state: z.enum(["queued", "running", "inbox", "done", "closed"]).optional(),
    line: z.string().max(200).optional().describe("Only of this line: its key, or <team>/<line>"),
    station: z.string().max(100).optional().describe("Only at the station with this key"),
    assignee: z.string().max(300).optional().describe("Only of a person: mail address, name or id; me or none"),
    limit: z.int().min(1).max(50).default(20),
    before: z.string().max(100).optional().describe("The value of next in the result of the page before"),
  }),
  output: z.object({ tasks: z.array(taskView), next: z.string().nullable() }),
  run: async ({ context }, { state, line, station, assignee, limit, before }) => {
    const { client, names } = context;
    const { id, key, workspace } = await names.team();
    const lineKey = line === undefined ? undefined : (await names.line(line)).line.key;
    const person =
      assignee === undefined ? undefined : await (await People.read(context, workspace.slug)).find(context, assignee);
    const { items, next } = await client.get("/api/teams/{teamId}/tasks", {
      path: { teamId: id },
      query: {
        limit,
        ...(state === undefined ? {} : { state }),
        ...(lineKey === undefined ? {} : { line: lineKey }),
        ...(station === undefined ? {} : { station }),
        ...(person === undefined ? {} : { assignee: person ?? "none" }),
        ...(before === undefined ? {} : { before }),
      },
    });
    const tasks = items.map(toTaskView);
    const more = next === null ? null : `call task_list with before: ${next}`;
    return {
      says: `${describeList(tasks.length, "task", more)} in ${workspace.slug}/${key}.`,
      texts: [{ of: "tasks", text: tasks.map(describeTask).join("\n") }],
      data: { tasks, next },
    };
  },
});

const taskDetail = taskView.extend({
  openedBy: z.string(),
  pullRequest: z.string().nullable().describe("Address and state"),
  runs: z.array(runView).describe(`The latest ${RUNS_SHOWN}, newest first`),
  notesOmitted: z.number().describe("Number of older notes that are not shown"),
  untrusted: untrusted({
    title: z.string(),
    asks: z.string().nullable(),
    assigneeName: z.string().nullable(),
    link: z.string(),
    failure: z.string().nullable(),
    description: z.string(),
    notes: z.array(z.object({ at: z.string(), from: z.string(), text: z.string() })),
  }),
});

const showTask = defineTool({
  name: "task_show",
  description: "Read a task: its state, question, description, notes and latest runs.",
  effect: { kind: "reads" },
  input: z.strictObject({ task: taskInput, team }),
  output: taskDetail,
  run: async ({ context }, { task: name }) => {
    const { client, names } = context;
    const path = { taskId: await names.task(name) };
    const task = await client.get("/api/tasks/{taskId}", { path });
    const people = await People.ofTeam(context, task.teamId);
    const data = toTaskDetail(task, await listRuns(context, task.id), people);
    return { says: describeFacts(data), texts: listTexts(data), data };
  },
});

/** Lists the task's latest runs. Returns an empty list if the caller may not read the team's outcomes. */
async function listRuns({ client }: ToolCall["context"], taskId: string): Promise<readonly Schema<"RunInAList">[]> {
  try {
    const query = { limit: RUNS_SHOWN };
    return (await client.get("/api/tasks/{taskId}/runs", { path: { taskId }, query })).items;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return [];
    throw error;
  }
}

function toTaskDetail(
  task: Schema<"Task">,
  runs: readonly Schema<"RunInAList">[],
  people: People,
): z.output<typeof taskDetail> {
  const { assignee, openedBy, pullRequest, notes, failure } = task;
  const how = `signalbox task show ${task.id} in a terminal shows it`;
  const view = toTaskView(task);
  return {
    ...view,
    openedBy: openedBy === null ? "unknown" : openedBy.kind === "person" ? `person ${openedBy.userId}` : openedBy.kind,
    pullRequest: pullRequest === null ? null : `${pullRequest.url} (${pullRequest.state})`,
    runs: runs.map(toRunView),
    notesOmitted: Math.max(0, notes.length - NOTES_SHOWN),
    untrusted: {
      ...view.untrusted,
      asks: task.asks === null ? null : cut(task.asks, MAX_TEXT, how),
      assigneeName: people.name(assignee),
      link: cut(task.url, MAX_TEXT, ""),
      failure: failure === null ? null : cut(failure.message, MAX_TEXT, how),
      description: cut(task.description, MAX_TEXT, how),
      notes: notes.slice(-NOTES_SHOWN).map(({ at, from, text }) => ({
        at,
        from: people.author(from),
        text: cut(text, MAX_TEXT, how),
      })),
    },
  };
}

function describeFacts(task: z.output<typeof taskDetail>): string {
  const { id, state, line, station, assignee, openedAt, pullRequest, approvals, notesOmitted } = task;
  return [
    `${id}: ${state} at ${line}/${station}, opened ${openedAt} by ${task.openedBy}, assigned to ${assignee ?? "nobody"}.`,
    ...(pullRequest === null ? [] : [`Pull request: ${pullRequest}`]),
    ...(approvals.length === 0 ? [] : [`Waits for the approvals ${approvals.join(", ")}: approval_show reads each.`]),
    ...(notesOmitted === 0 ? [] : [`${notesOmitted} older notes are not shown: signalbox task show ${id} shows them.`]),
  ].join("\n");
}

function listTexts({ runs, untrusted: texts }: z.output<typeof taskDetail>): readonly UntrustedText[] {
  const { title, assigneeName, link, asks, failure, description, notes } = texts;
  return [
    { of: "title", text: title },
    { of: "assignee", text: toLine(assigneeName ?? "") },
    { of: "link", text: link },
    { of: "question, or why it cannot go on", text: asks ?? "" },
    { of: "failure", text: failure ?? "" },
    { of: "description", text: description },
    { of: "notes", text: notes.map(({ at, from, text }) => `${at} ${from}: ${text}`).join("\n") },
    { of: "runs, newest first", text: runs.map(describeRun).join("\n") },
  ];
}

const addNote = defineTool({
  name: "task_note",
  description: "Add a note to a task. Later runs of the task read it.",
  effect: { kind: "adds" },
  input: z.strictObject({ task: taskInput, text: z.string().min(1), team, idempotencyKey }),
  output: taskView,
  run: async (call, { task, text }) => {
    const path = { taskId: await call.context.names.task(task) };
    return toChanged(
      await call.context.client.post("/api/tasks/{taskId}/notes", {
        path,
        body: { text },
        idempotencyKey: call.idempotencyKey,
      }),
      "Added a note",
    );
  },
});

/**
 * Returns the output of a tool that changed a task. `what` is the start of the output's sentence, such as `Answered`.
 */
export function toChanged(task: Schema<"Task">, what: string) {
  return { says: `${what}: ${task.id} is ${task.state} at ${task.line}/${task.station}.`, data: toTaskView(task) };
}

export const taskTools = [openTask, listTasks, showTask, addNote];
