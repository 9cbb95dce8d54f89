import { z } from "zod";
import { permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import { chainFrom } from "../../actors/hooks/loop-guard.js";
import type { LineFields } from "../../actors/lines/line.js";
import { findStation } from "../../actors/lines/line.queries.js";
import { invalid, isRefusal, type Refusal } from "../../actors/refusal.js";
import { findResourceAt } from "../../actors/resources/resource.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import { runs } from "../../actors/runs/run.table.js";
import { runItemSchema, runItemView, runSchema, runView, stepSchema, stepsView } from "../../actors/runs/run.view.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { listTeamTasks } from "../../actors/tasks/task.queries.js";
import { taskRuns, tasks } from "../../actors/tasks/task.table.js";
import { taskSchema, taskView } from "../../actors/tasks/task.view.js";
import { taskItemSchema, taskItemView } from "../../actors/tasks/task-item.view.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Message } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { readPage } from "../page-reading.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, type RouteRequest, route } from "../route.js";
import { findRun, findTask, isOnTaskTeam, notOnTeam } from "./task.queries.js";

const text = (most: number) => z.string().max(most, `must be at most ${most} characters`);

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

/** Tasks and runs (the work that is not configuration). */
export function taskRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  const taskAnswer = (task: TaskRow, workspaceId: string): Answer => ({
    status: 200,
    body: taskView(reading, workspaceId, task),
  });

  /** A message to the task that a person on the team may send. */
  const taskCommand = (
    name: string,
    summary: string,
    body: z.ZodType,
    message: (body: unknown, by: string) => Message,
  ): Route =>
    route({
      method: "POST",
      path: `/api/tasks/{taskId}/${name}`,
      summary,
      access: "person",
      body,
      headers: { "service-cause": "optional" },
      answers: { 200: taskSchema },
      handle: async ({ caller, params, body: given, header }) => {
        const found = findTask(runtime, caller, params.taskId ?? "");
        if (isRefusal(found)) return found;
        if (!isOnTaskTeam(runtime, caller, found.workspaceId, found.task.teamId)) return notOnTeam();
        const to = address(found.workspaceId, "task", found.task.id);
        const causes = causesOf(reading, found.workspaceId, header("service-cause"));
        const answer = await runtime.ask(to, { ...message(given, caller.userId), ...causes });
        if (isRefusal(answer)) return answer;
        return taskAnswer(tasks.get(reading, found.workspaceId, found.task.id) ?? found.task, found.workspaceId);
      },
    });

  return [
    route({
      method: "POST",
      path: "/api/teams/{teamId}/tasks",
      summary: "Open a task",
      access: "person",
      body: opening,
      headers: { "service-cause": "optional" },
      answers: { 201: taskSchema },
      handle: (request) => openTask(runtime, request),
    }),
    route({
      method: "GET",
      path: "/api/teams/{teamId}/tasks",
      summary: "List a team's tasks, newest first",
      access: "any",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(taskItemSchema) }) },
      handle: (request) => listTasks(runtime, request),
    }),
    route({
      method: "GET",
      path: "/api/tasks/{taskId}",
      summary: "Read a task",
      access: "any",
      answers: { 200: taskSchema },
      handle: ({ caller, params }) => {
        const found = findTask(runtime, caller, params.taskId ?? "");
        return isRefusal(found) ? found : taskAnswer(found.task, found.workspaceId);
      },
    }),
    taskCommand(
      "answer",
      "Answer what the task asks (its assignee)",
      z.strictObject({ text: text(20_000).min(1, "must not be empty") }),
      (body, by) => {
        const { text: answer } = body as { readonly text: string };
        return { type: "task.answer", by, text: answer } as Message;
      },
    ),
    taskCommand(
      "stop",
      "Stop the run under way (its assignee)",
      z.strictObject({}),
      (_body, by) => ({ type: "task.stop", by }) as Message,
    ),
    taskCommand(
      "retry",
      "Run the station again",
      z.strictObject({}),
      (_body, by) => ({ type: "task.retry", by }) as Message,
    ),
    taskCommand("close", "Close the task", z.strictObject({}), (_body, by) => ({ type: "task.close", by }) as Message),
    taskCommand("move", "Move the task to a station", z.strictObject({ to: z.string() }), (body, by) => {
      const { to } = body as { readonly to: string };
      return { type: "task.move", by, to } as Message;
    }),
    taskCommand(
      "notes",
      "Say something on the task",
      z.strictObject({ text: text(20_000).min(1, "must not be empty") }),
      (body, by) => {
        const { text: note } = body as { readonly text: string };
        return { type: "note", from: `person ${by}`, text: note, key: null } as Message;
      },
    ),
    route({
      method: "POST",
      path: "/api/tasks/{taskId}/assign",
      summary: "Give the task to someone in the workspace, or to nobody",
      access: "person",
      body: z.strictObject({ assignee: z.string().nullable() }),
      answers: { 200: taskSchema },
      handle: async ({ caller, params, body }) => {
        const found = findTask(runtime, caller, params.taskId ?? "");
        if (isRefusal(found)) return found;
        if (!isOnTaskTeam(runtime, caller, found.workspaceId, found.task.teamId)) return notOnTeam();
        const message = { type: "task.assign", by: caller.userId, assignee: body.assignee };
        const answer = await runtime.ask(address(found.workspaceId, "task", found.task.id), message);
        if (isRefusal(answer)) return answer;
        return taskAnswer(tasks.get(reading, found.workspaceId, found.task.id) ?? found.task, found.workspaceId);
      },
    }),
    route({
      method: "GET",
      path: "/api/tasks/{taskId}/runs",
      summary: "The runs of a task, newest first",
      access: "any",
      query: z.strictObject({ before: cursor.optional(), limit: pageSize() }),
      answers: { 200: z.strictObject({ items: z.array(runItemSchema) }) },
      handle: ({ caller, params, query: { before, limit } }) => {
        const found = findTask(runtime, caller, params.taskId ?? "");
        if (isRefusal(found)) return found;
        const { workspaceId, task } = found;
        if (!seesOutcomes(reading, caller, workspaceId, task.teamId)) return { refused: "not-found" };
        const page = { reverse: true, limit, ...(before === undefined ? {} : { before: [task.id, before] }) };
        const ids = taskRuns.entries(reading, workspaceId, [task.id], page);
        const items = ids.flatMap(({ key }) => runs.get(reading, workspaceId, String(key.at(-1))) ?? []);
        return { status: 200, body: { items: items.map((run) => runItemView(reading, workspaceId, run)) } };
      },
    }),
    route({
      method: "GET",
      path: "/api/runs/{runId}",
      summary: "Read a run",
      access: "any",
      answers: { 200: runSchema },
      handle: ({ caller, params }) => {
        const found = findRun(runtime, caller, params.runId ?? "");
        return isRefusal(found) ? found : { status: 200, body: runView(reading, found.workspaceId, found.run) };
      },
    }),
    route({
      method: "GET",
      path: "/api/runs/{runId}/steps",
      summary: "The steps of a run, in order",
      access: "any",
      query: z.strictObject({
        after: z.coerce.number("must be a number").int().min(-1).default(-1),
        limit: pageSize(200),
      }),
      answers: { 200: z.strictObject({ items: z.array(stepSchema) }) },
      handle: ({ caller, params, query }) => {
        const found = findRun(runtime, caller, params.runId ?? "");
        if (isRefusal(found)) return found;
        return { status: 200, body: { items: stepsView(reading, found.workspaceId, found.run.id, query) } };
      },
    }),
  ];
}

interface OpenRequest {
  readonly caller: Extract<Caller, { kind: "person" }>;
  readonly params: Readonly<Record<string, string>>;
  readonly body: z.output<typeof opening>;
  header(name: string): string | undefined;
}

async function openTask(runtime: Runtime, { caller, params, body, header }: OpenRequest): Promise<Answer | Refusal> {
  const { reading } = runtime;
  const teamId = params.teamId ?? "";
  const team = findTeam(runtime, caller, teamId);
  if (isRefusal(team)) return team;
  const { workspaceId, teamKey } = team;
  if (!isOnTaskTeam(runtime, caller, workspaceId, teamId)) return notOnTeam();
  const line = findResourceAt<LineFields>(reading, workspaceId, "line", `${teamKey}/${body.line}`);
  if (line === undefined) return invalid("line", `there is no line ${body.line}`);
  if (body.station !== null && findStation(line.fields, body.station) === undefined) {
    return invalid("station", `there is no station ${body.station}`);
  }
  const assignee = body.assignee === undefined ? caller.userId : body.assignee;
  const { title, description, url, station } = body;
  const taskId = runtime.newId("task");
  const answer = await runtime.ask(address(workspaceId, "task", taskId), {
    type: "task.open",
    ...{ teamId, lineId: line.id, title, description, url, station, assignee, by: caller.userId },
    ...causesOf(reading, workspaceId, header("service-cause")),
  });
  if (isRefusal(answer)) return answer;
  const task = tasks.get(reading, workspaceId, taskId);
  return task === undefined ? { refused: "not-found" } : { status: 201, body: taskView(reading, workspaceId, task) };
}

type ListRequest = Pick<
  RouteRequest<"any", undefined, z.output<typeof listing>>,
  "caller" | "params" | "query" | "signal"
>;

async function listTasks(runtime: Runtime, request: ListRequest): Promise<Answer | Refusal> {
  const { reading } = runtime;
  const { caller, params, query } = request;
  const { teamId = "" } = params;
  const team = findTeam(runtime, caller, teamId);
  if (isRefusal(team)) return team;
  const { workspaceId, teamKey } = team;
  const { line, assignee, state, station, before, limit } = query;
  const lineId =
    line === undefined ? undefined : findResourceAt(reading, workspaceId, "line", `${teamKey}/${line}`)?.id;
  if (line !== undefined && lineId === undefined) return { status: 200, body: { items: [] } };
  const filter = { state, lineId, station, assignee: assignee === "none" ? null : assignee };
  const found = await readPage<TaskRow>(runtime, request, (view, from) =>
    listTeamTasks(view, { workspaceId, teamId }, filter, { before, limit, cursor: from }),
  );
  return { status: 200, body: { items: found.map((task) => taskItemView(reading, workspaceId, task)) } };
}

function findTeam(
  { reading }: Runtime,
  caller: Caller,
  teamId: string,
): { readonly workspaceId: string; readonly teamKey: string } | Refusal {
  const place = locate(reading, teamId);
  if (place?.kind !== "team") return { refused: "not-found" };
  const refused = permit(reading, caller, place.workspaceId, "read", "team");
  if (refused !== null) return refused;
  const key = reading.get<{ readonly address: string }>([
    place.workspaceId,
    "row",
    "resource",
    "team",
    teamId,
  ])?.address;
  return key === undefined ? { refused: "not-found" } : { workspaceId: place.workspaceId, teamKey: key };
}

/** The chain that a request joins by the cause that it names. */
function causesOf(reading: Reading, workspaceId: string, cause: string | undefined) {
  return cause === undefined ? {} : { causes: chainFrom(reading, workspaceId, cause) };
}
