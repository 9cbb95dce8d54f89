import { z } from "zod";
import { chainFrom } from "../../actors/hooks/loop-guard.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
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
  toSender,
} from "../../actors/tasks/task.messages.js";
import {
  findTaskFilter,
  findTaskToAddTo,
  findTaskToClose,
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
import { type SignedInAccess, type Subject, subjectRoute } from "../wire/subject-route.js";
import { teamRoute } from "../wire/team-route.js";
import { taskPage } from "./task-page.js";

const text = (maxLength: number) => z.string().max(maxLength, `must be at most ${maxLength} characters`);
const speech = (description: string) =>
  z.strictObject({
    text: text(20_000).min(1, "must not be empty").describe(`${description}, 1 to 20,000 characters.`),
  });

const opening = z.strictObject({
  title: text(300).min(1, "must not be empty").describe("A short name for the work, 1 to 300 characters."),
  description: text(50_000)
    .default("")
    .describe("The work in detail, as the agents read it; at most 50,000 characters, empty by default."),
  url: text(2_000)
    .default("")
    .describe("The URL that describes the work, such as that of an issue; at most 2,000 characters."),
  line: z.string().describe("The key of the team's line that the task runs through."),
  station: z
    .string()
    .nullable()
    .default(null)
    .describe("The key of the station where the task starts; null for the line's first station."),
  assignee: z
    .string()
    .nullable()
    .optional()
    .describe("The id of the team member who answers the task's questions; null for nobody."),
  pullRequest: text(2_000)
    .optional()
    .describe("The URL of a pull request. The task's runs review the pull request and never change it."),
  branch: text(255).optional().describe("The name of a branch. The task's runs review the branch and never change it."),
});

const listing = z.strictObject({
  state: z
    .enum(["queued", "running", "inbox", "done", "closed"], "must be queued, running, inbox, done or closed")
    .optional()
    .describe("Returns only tasks in this state."),
  line: z.string().optional().describe("Returns only tasks of the line with this key."),
  station: z.string().optional().describe("Returns only tasks at the station with this key."),
  assignee: z
    .string()
    .optional()
    .describe("Returns only tasks of the assignee with this id, or with `none` only tasks without an assignee."),
  before: idCursor("task"),
  limit: pageSize(),
});

interface TaskRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes for tasks, and for commands on them. */
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
    description:
      "For people on the team, and for tokens with the scope `work`. Without `assignee`, a person's task is assigned to " +
      "that person, and a token's task to nobody.",
    access: "any",
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
    description:
      "For callers who can see the team. Filters combine: a task must match all of them. A line that does not exist " +
      "matches no task.",
    access: "any",
    query: listing,
    answers: {
      200: z.strictObject({
        items: z.array(taskItemSchema).describe("The tasks of this page, newest first."),
        next: nextPage("before"),
        prunedBefore,
      }),
    },
    handle: async (request, team) => {
      const { before, limit, ...wanted } = request.query;
      const filter = findTaskFilter(reading, team, wanted);
      if (filter === null) return { status: 200, body: { items: [], next: null, prunedBefore: null } };
      const { rows, next } = await readListPageInSlices(
        { before, limit },
        (page) =>
          readPage<TaskRow>(runtime, request, (view, from) =>
            listTeamTasks(view, team, filter, { ...page, cursor: from }),
          ),
        byId,
      );
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

/** The commands on a task. The name is the last segment of the path. */
function commandRoutes(options: TaskRoutesOptions): readonly Route[] {
  const nothing = z.strictObject({});
  return [
    commandRoute(options, "answer", {
      summary: "Answer the task's question, as its assignee",
      description:
        "The answer becomes a note, and a new run at the same station reads it. 409 unless the task is in the inbox " +
        "and its run has ended.",
      body: speech("The answer"),
      toMessage: (body, { by }) => ({ type: "task.answer", by, text: body.text }),
    }),
    commandRoute(options, "stop", {
      summary: "Stop the active run, as the task's assignee",
      description:
        "Asks the runner to stop the agent. The run then ends as `stopped`, and the task moves to the inbox.",
      body: nothing,
      toMessage: (_body, { by }) => ({ type: "task.stop", by }),
    }),
    commandRoute(options, "retry", {
      summary: "Run the task's station again",
      description:
        "For people on the team. Queues a new run with the line's current config, for a task in the inbox, or for a " +
        "done task whose pull request is open.",
      body: nothing,
      toMessage: (_body, { by }) => ({ type: "task.retry", by }),
    }),
    commandRoute(options, "close", {
      summary: "Close the task",
      description: "For people on the team, and for the token that opened the task, if it has the scope `work`.",
      body: nothing,
      access: "any",
      find: findTaskToClose,
      toMessage: (_body, sender) => ({ type: "task.close", ...sender }),
    }),
    commandRoute(options, "move", {
      summary: "Move the task to a station",
      description: "For people on the team. Queues a run at that station; an active run ends as `superseded`.",
      body: z.strictObject({ to: z.string().describe("The key of the station in the task's line.") }),
      toMessage: ({ to }, { by }) => ({ type: "task.move", by, to }),
    }),
    commandRoute(options, "notes", {
      summary: "Add a note to the task",
      description: "For people on the team, and for tokens with the scope `work`.",
      body: speech("The note, as plain text or Markdown"),
      access: "any",
      find: findTaskToAddTo,
      toMessage: (body, sender) => ({ type: "task.note", ...sender, text: body.text }),
    }),
  ];
}

interface Command<Body extends z.ZodType> {
  readonly summary: string;
  readonly description?: string;
  readonly body: Body;
  /** `any` if tokens may send the command too. The default is `person`. */
  readonly access?: SignedInAccess;
  /** Finds the task if the caller may send the command. By default, the members of the task's team may. */
  readonly find?: typeof findTaskToWorkOn;
  toMessage(
    body: z.output<Body>,
    sender: ReturnType<typeof toSender>,
  ): AnswerTask | StopTask | RetryTask | CloseTask | MoveTask | AddNote;
}

function commandRoute<Body extends z.ZodType>(
  { runtime, sealer }: TaskRoutesOptions,
  name: string,
  { access = "person", find = findTaskToWorkOn, toMessage, ...declared }: Command<Body>,
): Route {
  return subjectRoute<VisibleTask, SignedInAccess, Body>(taskTo(find, runtime), {
    method: "POST",
    path: `/api/tasks/{taskId}/${name}`,
    ...declared,
    access,
    headers: { "idempotency-key": "optional", "service-cause": "optional" },
    answers: { 200: { body: taskSchema, headers: replayedHeader } },
    handle: async (request, found) => {
      const { caller, body: given, header } = request;
      const { workspaceId, task } = found;
      const idempotency = findIdempotency(sealer, request, `task.${name} ${task.id}`);
      const causes = toCauses(runtime, workspaceId, header("service-cause"));
      const message = { ...toMessage(given, toSender(caller)), ...causes, idempotency };
      const answer = granted(await runtime.ask(taskRef(workspaceId, task.id), message));
      return showNow(runtime, found, answer.replayed);
    },
  });
}

function assignRoute({ runtime, sealer }: TaskRoutesOptions): Route {
  return subjectRoute(taskTo(findTaskToWorkOn, runtime), {
    method: "POST",
    path: "/api/tasks/{taskId}/assign",
    summary: "Assign the task to a member of its team, or to nobody",
    description: "From then on, the new assignee answers the task's questions, including waiting approvals.",
    access: "person",
    body: z.strictObject({
      assignee: z.string().nullable().describe("The id of a member of the task's team; null to assign nobody."),
    }),
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

function taskTo(find: typeof findTaskToWorkOn, { reading }: Runtime): Subject<VisibleTask> {
  return { find: ({ caller, params }) => find(reading, caller, params.taskId ?? "") };
}

function showNow({ reading }: Runtime, found: VisibleTask, replayed = false): Answer {
  const body = taskView(reading, found.workspaceId, getTaskNow(reading, found));
  return { status: 200, body, headers: replayHeaders(replayed) };
}

/** Returns the causes of a request, from its `Service-Cause` header. */
function toCauses({ reading }: Runtime, workspaceId: string, cause: string | undefined) {
  return cause === undefined ? {} : { causes: chainFrom(reading, workspaceId, cause) };
}
