import { z } from "zod";
import { chainFrom } from "../../actors/hooks/loop-guard.js";
import { toOpenTask } from "../../actors/tasks/open-task.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import {
  type AnswerTask,
  type CloseTask,
  type MoveTask,
  type NoteTask,
  type RetryTask,
  type StopTask,
  taskRef,
} from "../../actors/tasks/task.messages.js";
import {
  findTaskFilter,
  findTaskToWorkOn,
  findVisibleTask,
  getTaskNow,
  listTeamTasks,
  type VisibleTask,
} from "../../actors/tasks/task.queries.js";
import { taskSchema, taskView } from "../../actors/tasks/task.view.js";
import { taskItemSchema, taskItemView } from "../../actors/tasks/task-item.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import { readPage } from "../page-reading.js";
import { cursor, pageSize } from "../paging.js";
import { granted } from "../refused.js";
import type { Answer, Route } from "../route.js";
import { type Subject, subjectRoute } from "../subject-route.js";
import { teamRoute } from "../team-route.js";

const text = (most: number) => z.string().max(most, `must be at most ${most} characters`);
const speech = z.strictObject({ text: text(20_000).min(1, "must not be empty") });

const opening = z.strictObject({
  title: text(300).min(1, "must not be empty"),
  description: text(50_000).default(""),
  url: text(2_000).default(""),
  line: z.string(),
  station: z.string().nullable().default(null),
  assignee: z.string().nullable().optional(),
});

const listing = z.strictObject({
  state: z.enum(["queued", "running", "inbox", "done", "closed"], "must be a state").optional(),
  line: z.string().optional(),
  station: z.string().optional(),
  assignee: z.string().optional(),
  before: cursor.optional(),
  limit: pageSize(),
});

/** Tasks, and the commands of people on them. */
export function taskRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [openRoute(runtime), listRoute(runtime), readRoute(runtime), ...commandRoutes(runtime), assignRoute(runtime)];
}

function openRoute(runtime: Runtime): Route {
  const { reading } = runtime;
  return teamRoute(runtime, "team", {
    method: "POST",
    path: "/api/teams/{teamId}/tasks",
    summary: "Open a task",
    access: "person",
    body: opening,
    headers: { "service-cause": "optional" },
    answers: { 201: taskSchema },
    handle: async ({ caller, body, header }, team) => {
      const { workspaceId } = team;
      const message = granted(toOpenTask(reading, caller, team, body));
      const to = taskRef(workspaceId, runtime.newId("task"));
      const causes = causesOf(runtime, workspaceId, header("service-cause"));
      const { task } = granted(await runtime.ask(to, { ...message, ...causes }));
      return { ...showNow(runtime, { workspaceId, task }), status: 201 };
    },
  });
}

function listRoute(runtime: Runtime): Route {
  const { reading } = runtime;
  return teamRoute(runtime, "team", {
    method: "GET",
    path: "/api/teams/{teamId}/tasks",
    summary: "List a team's tasks, newest first",
    access: "any",
    query: listing,
    answers: { 200: z.strictObject({ items: z.array(taskItemSchema) }) },
    handle: async (request, team) => {
      const { before, limit, ...wanted } = request.query;
      const filter = findTaskFilter(reading, team, wanted);
      if (filter === null) return { status: 200, body: { items: [] } };
      const found = await readPage<TaskRow>(runtime, request, (view, from) =>
        listTeamTasks(view, team, filter, { before, limit, cursor: from }),
      );
      return { status: 200, body: { items: found.map((task) => taskItemView(reading, team.workspaceId, task)) } };
    },
  });
}

function readRoute({ reading }: Runtime): Route {
  const visibleTask: Subject<VisibleTask> = {
    find: ({ caller, params }) => findVisibleTask(reading, caller, params.taskId ?? ""),
  };
  return subjectRoute(visibleTask, {
    method: "GET",
    path: "/api/tasks/{taskId}",
    summary: "Read a task",
    access: "any",
    answers: { 200: taskSchema },
    handle: (_request, { workspaceId, task }) => ({ status: 200, body: taskView(reading, workspaceId, task) }),
  });
}

/** The commands of the team's people on a task, by the end of their path. */
function commandRoutes(runtime: Runtime): readonly Route[] {
  const nothing = z.strictObject({});
  return [
    commandRoute(runtime, "answer", {
      summary: "Answer what the task asks (its assignee)",
      body: speech,
      toMessage: (body, by) => ({ type: "task.answer", by, text: body.text }),
    }),
    commandRoute(runtime, "stop", {
      summary: "Stop the run under way (its assignee)",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.stop", by }),
    }),
    commandRoute(runtime, "retry", {
      summary: "Run the station again",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.retry", by }),
    }),
    commandRoute(runtime, "close", {
      summary: "Close the task",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.close", by }),
    }),
    commandRoute(runtime, "move", {
      summary: "Move the task to a station",
      body: z.strictObject({ to: z.string() }),
      toMessage: ({ to }, by) => ({ type: "task.move", by, to }),
    }),
    commandRoute(runtime, "notes", {
      summary: "Say something on the task",
      body: speech,
      toMessage: (body, by) => ({ type: "note", from: `person ${by}`, text: body.text, key: null }),
    }),
  ];
}

interface Command<Body extends z.ZodType> {
  readonly summary: string;
  readonly body: Body;
  /** The message to the task; `by` is the person's user id. */
  toMessage(body: z.output<Body>, by: string): AnswerTask | StopTask | RetryTask | CloseTask | MoveTask | NoteTask;
}

function commandRoute<Body extends z.ZodType>(
  runtime: Runtime,
  name: string,
  { summary, body, toMessage }: Command<Body>,
): Route {
  return subjectRoute(taskToWorkOn(runtime), {
    method: "POST",
    path: `/api/tasks/{taskId}/${name}`,
    summary,
    access: "person",
    body,
    headers: { "service-cause": "optional" },
    answers: { 200: taskSchema },
    handle: async ({ caller, body: given, header }, found) => {
      const causes = causesOf(runtime, found.workspaceId, header("service-cause"));
      const to = taskRef(found.workspaceId, found.task.id);
      granted(await runtime.ask(to, { ...toMessage(given, caller.userId), ...causes }));
      return showNow(runtime, found);
    },
  });
}

function assignRoute(runtime: Runtime): Route {
  return subjectRoute(taskToWorkOn(runtime), {
    method: "POST",
    path: "/api/tasks/{taskId}/assign",
    summary: "Give the task to someone in the workspace, or to nobody",
    access: "person",
    body: z.strictObject({ assignee: z.string().nullable() }),
    answers: { 200: taskSchema },
    handle: async ({ caller, body: { assignee } }, found) => {
      const to = taskRef(found.workspaceId, found.task.id);
      granted(await runtime.ask(to, { type: "task.assign", by: caller.userId, assignee }));
      return showNow(runtime, found);
    },
  });
}

function taskToWorkOn({ reading }: Runtime): Subject<VisibleTask> {
  return { find: ({ caller, params }) => findTaskToWorkOn(reading, caller, params.taskId ?? "") };
}

function showNow({ reading }: Runtime, found: VisibleTask): Answer {
  return { status: 200, body: taskView(reading, found.workspaceId, getTaskNow(reading, found)) };
}

/** The causes of a request, by its `Service-Cause` header. */
function causesOf({ reading }: Runtime, workspaceId: string, cause: string | undefined) {
  return cause === undefined ? {} : { causes: chainFrom(reading, workspaceId, cause) };
}
