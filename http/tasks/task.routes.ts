import { z } from "zod";
import { chainFrom } from "../../actors/hooks/loop-guard.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, toListPage, withOneMore } from "../../actors/tables/list-page.js";
import { findOpenedTask, toOpenTask } from "../../actors/tasks/open-task.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { taskItemSchema } from "../../actors/tasks/task.js";
import {
  type AddNote,
  type AnswerTask,
  type CloseTask,
  type MoveTask,
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
  tasksPrunedBefore,
  type VisibleTask,
} from "../../actors/tasks/task.queries.js";
import { taskSchema, taskView } from "../../actors/tasks/task.view.js";
import { taskItemView } from "../../actors/tasks/task-item.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize, prunedBefore } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import { type Answer, type Route, route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { teamRoute } from "../wire/team-route.js";
import { taskPage } from "./task-page.js";

const text = (maxLength: number) => z.string().max(maxLength, `must be at most ${maxLength} characters`);
const speech = z.strictObject({ text: text(20_000).min(1, "must not be empty") });

const opening = z.strictObject({
  title: text(300).min(1, "must not be empty"),
  description: text(50_000).default(""),
  url: text(2_000).default(""),
  line: z.string(),
  station: z.string().nullable().default(null),
  assignee: z.string().nullable().optional(),
  pullRequest: text(2_000)
    .optional()
    .describe("The address of a pull request, which its runs review and never change."),
  branch: text(255).optional().describe("A branch, which its runs review and never change."),
});

const listing = z.strictObject({
  state: z
    .enum(["queued", "running", "inbox", "done", "closed"], "must be queued, running, inbox, done or closed")
    .optional(),
  line: z.string().optional().describe("The line's key."),
  station: z.string().optional().describe("The station's key."),
  assignee: z.string().optional(),
  before: idCursor("task"),
  limit: pageSize(),
});

interface TaskRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes for tasks, and for people's commands on them. */
export function taskRoutes(options: TaskRoutesOptions): readonly Route[] {
  const { runtime } = options;
  return [
    openRoute(options),
    listRoute(runtime),
    readRoute(runtime),
    pageRoute(),
    ...commandRoutes(options),
    assignRoute(options),
  ];
}

function openRoute({ runtime, sealer }: TaskRoutesOptions): Route {
  const { reading, clock } = runtime;
  return teamRoute(runtime, "team", {
    method: "POST",
    path: "/api/teams/{teamId}/tasks",
    summary: "Open a task",
    access: "person",
    body: opening,
    headers: { "idempotency-key": "optional", "service-cause": "optional" },
    answers: { 201: { body: taskSchema, headers: replayedHeader } },
    handle: async (request, team) => {
      const { caller, body, header } = request;
      const { workspaceId, teamId } = team;
      const idempotency = findIdempotency(sealer, request, `task.open ${teamId}`);
      const repeat = idempotency === undefined ? null : { idempotency, nowMs: clock.now() };
      const before = repeat === null ? null : granted(findOpenedTask(reading, caller, team, repeat));
      if (before !== null) return { ...showNow(runtime, { workspaceId, task: before }, true), status: 201 };
      const message = granted(toOpenTask(reading, caller, team, body));
      const to = taskRef(workspaceId, runtime.newId("task"));
      const causes = toCauses(runtime, workspaceId, header("service-cause"));
      const { task, replayed } = granted(await runtime.ask(to, { ...message, ...causes, idempotency }));
      return { ...showNow(runtime, { workspaceId, task }, replayed), status: 201 };
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
    answers: { 200: z.strictObject({ items: z.array(taskItemSchema), next: nextPage("before"), prunedBefore }) },
    handle: async (request, team) => {
      const { before, limit, ...wanted } = request.query;
      const filter = findTaskFilter(reading, team, wanted);
      if (filter === null) return { status: 200, body: { items: [], next: null, prunedBefore: null } };
      const page = withOneMore({ before, limit });
      const found = await readPage<TaskRow>(runtime, request, (view, from) =>
        listTeamTasks(view, team, filter, { ...page, cursor: from }),
      );
      const { rows, next } = toListPage(found, { limit }, byId);
      const items = await inPieces(rows, request, (task) => taskItemView(reading, team.workspaceId, task));
      const pruned = next === null ? tasksPrunedBefore(reading, team.workspaceId, runtime.clock.now()) : null;
      return { status: 200, body: { items, next, prunedBefore: pruned } };
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
    description: "A browser that opens this address as a document is redirected to the page of the task.",
    access: "any",
    page: ({ taskId = "" }) => `/tasks/${encodeURIComponent(taskId)}`,
    answers: {
      200: taskSchema,
      303: { body: null, headers: { location: "The task's page, for a browser.", vary: "`sec-fetch-dest`" } },
    },
    handle: (_request, { workspaceId, task }) => ({ status: 200, body: taskView(reading, workspaceId, task) }),
  });
}

function pageRoute(): Route {
  return route({
    method: "GET",
    path: "/tasks/{taskId}",
    operation: "openTaskPage",
    summary: "Open the page of a task",
    description: "The page is the same for every task: its script reads the task with the browser's session.",
    access: "public",
    answers: {
      200: {
        body: null,
        text: "text/html",
        headers: { "content-security-policy": "The content security policy of the page." },
      },
    },
    handle: () => taskPage(),
  });
}

/** The commands of people in the team on a task. The name is the last segment of the path. */
function commandRoutes(options: TaskRoutesOptions): readonly Route[] {
  const nothing = z.strictObject({});
  return [
    commandRoute(options, "answer", {
      summary: "Answer the task's question (its assignee)",
      body: speech,
      toMessage: (body, by) => ({ type: "task.answer", by, text: body.text }),
    }),
    commandRoute(options, "stop", {
      summary: "Stop the active run (its assignee)",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.stop", by }),
    }),
    commandRoute(options, "retry", {
      summary: "Run the station again",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.retry", by }),
    }),
    commandRoute(options, "close", {
      summary: "Close the task",
      body: nothing,
      toMessage: (_body, by) => ({ type: "task.close", by }),
    }),
    commandRoute(options, "move", {
      summary: "Move the task to a station",
      body: z.strictObject({ to: z.string() }),
      toMessage: ({ to }, by) => ({ type: "task.move", by, to }),
    }),
    commandRoute(options, "notes", {
      summary: "Add a note to the task",
      body: speech,
      toMessage: (body, by) => ({ type: "task.note", by, text: body.text }),
    }),
  ];
}

interface Command<Body extends z.ZodType> {
  readonly summary: string;
  readonly body: Body;
  /** Creates the message to the task. `by` is the person's user id. */
  toMessage(body: z.output<Body>, by: string): AnswerTask | StopTask | RetryTask | CloseTask | MoveTask | AddNote;
}

function commandRoute<Body extends z.ZodType>(
  { runtime, sealer }: TaskRoutesOptions,
  name: string,
  { summary, body, toMessage }: Command<Body>,
): Route {
  return subjectRoute(taskToWorkOn(runtime), {
    method: "POST",
    path: `/api/tasks/{taskId}/${name}`,
    summary,
    access: "person",
    body,
    headers: { "idempotency-key": "optional", "service-cause": "optional" },
    answers: { 200: { body: taskSchema, headers: replayedHeader } },
    handle: async (request, found) => {
      const { caller, body: given, header } = request;
      const { workspaceId, task } = found;
      const idempotency = findIdempotency(sealer, request, `task.${name} ${task.id}`);
      const causes = toCauses(runtime, workspaceId, header("service-cause"));
      const message = { ...toMessage(given, caller.userId), ...causes, idempotency };
      const answer = granted(await runtime.ask(taskRef(workspaceId, task.id), message));
      return showNow(runtime, found, answer.replayed);
    },
  });
}

function assignRoute({ runtime, sealer }: TaskRoutesOptions): Route {
  return subjectRoute(taskToWorkOn(runtime), {
    method: "POST",
    path: "/api/tasks/{taskId}/assign",
    summary: "Assign the task to someone on its team, or to nobody",
    description: "The new assignee answers the task's questions from then on, including waiting approvals.",
    access: "person",
    body: z.strictObject({ assignee: z.string().nullable() }),
    headers: { "idempotency-key": "optional" },
    answers: { 200: { body: taskSchema, headers: replayedHeader } },
    handle: async (request, found) => {
      const { caller, body } = request;
      const { workspaceId, task } = found;
      const idempotency = findIdempotency(sealer, request, `task.assign ${task.id}`);
      const message = { type: "task.assign", by: caller.userId, assignee: body.assignee, idempotency } as const;
      const { replayed } = granted(await runtime.ask(taskRef(workspaceId, task.id), message));
      return showNow(runtime, found, replayed);
    },
  });
}

function taskToWorkOn({ reading }: Runtime): Subject<VisibleTask> {
  return { find: ({ caller, params }) => findTaskToWorkOn(reading, caller, params.taskId ?? "") };
}

function showNow({ reading }: Runtime, found: VisibleTask, replayed = false): Answer {
  const body = taskView(reading, found.workspaceId, getTaskNow(reading, found));
  return { status: 200, body, headers: replayHeaders(replayed) };
}

/** Returns the causes of a request, from its `Service-Cause` header. */
function toCauses({ reading }: Runtime, workspaceId: string, cause: string | undefined) {
  return cause === undefined ? {} : { causes: chainFrom(reading, workspaceId, cause) };
}
