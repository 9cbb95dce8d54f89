import { z } from "zod";
import { seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import { workEventNames } from "../../actors/events/catalogue.js";
import { toEventTask } from "../../actors/events/event-task.js";
import { findCallbackBearer } from "../../actors/hooks/delivery/callback-token.js";
import { listHookOccurrences } from "../../actors/hooks/hook-occurrence.queries.js";
import {
  findHookOccurrence,
  findHookOccurrenceById,
  type HookOccurrence,
} from "../../actors/hooks/hook-occurrence.table.js";
import { hookOccurrenceSchema, hookOccurrenceView } from "../../actors/hooks/hook-occurrence.view.js";
import { findLine } from "../../actors/lines/line.queries.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { findResource } from "../../actors/resources/resource.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import type { Sealer } from "../../actors/sealer.js";
import { type NoteTask, taskRef } from "../../actors/tasks/task.messages.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { Runtime } from "../../runtime/runtime.js";
import { bearerToken } from "../authenticate.js";
import { parseBy } from "../field-errors.js";
import { readPage } from "../page-reading.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Outcome, type Route, type RouteRequest, route } from "../route.js";
import { idempotencyKey } from "../transport/headers.js";

export interface HookRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

const historyQuery = z.strictObject({
  hook: z.string().optional(),
  event: z.enum(workEventNames, "must be an event").optional(),
  state: z.enum(["attempting", "waiting", "delivered", "failed", "refused"], "must be a state").optional(),
  before: cursor.optional(),
  limit: pageSize(),
});

const nextPage = z
  .string()
  .nullable()
  .describe("What the next page is `before`; null when there is none. A page that is followed by one may be empty.");

/** The task as its hook's receiver reads it. */
const callbackTaskSchema = z
  .strictObject({
    ...{ id: z.string(), title: z.string(), url: z.string(), line: z.string(), station: z.string() },
    ...{ stationKey: z.string(), marks: z.record(z.string(), z.string()), repositories: z.array(z.string()) },
    pullRequest: z.looseObject({ url: z.string() }).nullable(),
    hook: z.string(),
  })
  .meta({ title: "callback-task" });

const note = z.strictObject({ body: z.string().describe("1 to 20,000 characters.") });
const MAX_NOTE = 20_000;

/** The history of a team's hooks, and what a hook's receiver may call back with. */
export function hookRoutes(options: HookRoutesOptions): readonly Route[] {
  const { runtime } = options;
  const { reading } = runtime;
  return [
    route({
      method: "GET",
      path: "/api/teams/{teamId}/hook-occurrences",
      summary: "What a team's hooks did, newest first",
      access: "any",
      query: historyQuery,
      answers: { 200: z.strictObject({ items: z.array(hookOccurrenceSchema), next: nextPage }) },
      handle: (request) => history(runtime, request),
    }),
    route({
      method: "GET",
      path: "/api/teams/{teamId}/hook-occurrences/{id}",
      summary: "One firing of a hook, with every attempt",
      access: "any",
      answers: { 200: hookOccurrenceSchema },
      handle: ({ caller, params }) => {
        const found = findFiring(runtime, caller, params);
        if (isRefusal(found)) return found;
        return { status: 200, body: hookOccurrenceView(reading, found.workspaceId, found.firing) };
      },
    }),
    route({
      method: "GET",
      path: "/api/hook-callbacks/task",
      summary: "The task a hook fired about, for its receiver",
      access: "public",
      credential: "callback",
      answers: { 200: callbackTaskSchema },
      problems: ["unauthenticated"],
      handle: (request) => {
        const found = bearerTask(options, request.header("authorization"));
        if (isRefusal(found)) return found;
        const { task, workspaceId, firing } = found;
        const shown = toEventTask(task, findLine(reading, workspaceId, task.lineId));
        return { status: 200, body: { ...shown, hook: firing.hook } };
      },
    }),
    route({
      method: "POST",
      path: "/api/hook-callbacks/notes",
      summary: "Say something on the task a hook fired about",
      access: "public",
      credential: "callback",
      // Whose token is not valid hears nothing of the body.
      body: z.unknown(),
      takes: note,
      headers: { "idempotency-key": "optional" },
      answers: { 204: null },
      problems: ["unauthenticated"],
      handle: (request) => sayNote(options, request),
    }),
  ];
}

async function sayNote(
  options: HookRoutesOptions,
  request: Pick<RouteRequest, "body" | "header">,
): Promise<Answer | Refusal> {
  const found = bearerTask(options, request.header("authorization"));
  if (isRefusal(found)) return found;
  const { firing, workspaceId, task } = found;
  const given = request.header("idempotency-key");
  const once = given === undefined || given === "" ? null : idempotencyKey(given);
  if (isRefusal(once)) return once;
  const parsed = parseBy(note, request.body);
  if ("errors" in parsed) return { refused: "invalid", errors: parsed.errors };
  const { body: text } = parsed.data;
  if (text === "" || [...text].length > MAX_NOTE) {
    return { refused: "bad-request", detail: "A note has 1 to 20,000 characters." };
  }
  const key = once === null ? null : `${firing.id} ${once}`;
  const message: NoteTask = { type: "note", from: `hook ${firing.hook}`, text, key };
  await options.runtime.ask(taskRef(workspaceId, task.id), message);
  return { status: 204 };
}

type HistoryRequest = Pick<
  RouteRequest<"any", undefined, z.output<typeof historyQuery>>,
  "caller" | "params" | "query" | "signal"
>;

async function history(runtime: Runtime, request: HistoryRequest): Promise<Outcome> {
  const { reading } = runtime;
  const { caller, params, query } = request;
  const { teamId = "" } = params;
  const place = locate(reading, teamId);
  if (place?.kind !== "team" || !seesOutcomes(reading, caller, place.workspaceId, teamId)) {
    return { refused: "not-found" };
  }
  const { workspaceId } = place;
  const { hook, event, state, before, limit } = query;
  const rows = await readPage<HookOccurrence>(runtime, request, (view, cursor) =>
    listHookOccurrences(view, { workspaceId, teamId }, { hook, event, state }, { before, limit, cursor }),
  );
  const next = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  const items = rows.map((firing) => hookOccurrenceView(reading, workspaceId, firing));
  return { status: 200, body: { items, next } };
}

/** A firing of the team whose history the caller may read. */
export function findFiring(
  { reading }: Runtime,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): { readonly workspaceId: string; readonly firing: HookOccurrence } | Refusal {
  const { teamId = "", id = "" } = params;
  const place = locate(reading, teamId);
  if (place?.kind !== "team" || !seesOutcomes(reading, caller, place.workspaceId, teamId)) {
    return { refused: "not-found" };
  }
  const { workspaceId } = place;
  const firing = findHookOccurrence(reading, workspaceId, teamId, id);
  return firing === undefined ? { refused: "not-found" } : { workspaceId, firing };
}

function bearerTask({ runtime, sealer }: HookRoutesOptions, authorization: string | undefined) {
  const refused: Refusal = { refused: "unauthenticated", detail: "The callback token is missing, unknown or too old." };
  const token = bearerToken(authorization);
  const bearer = token === null ? null : findCallbackBearer(sealer, token, runtime.clock.now());
  if (bearer === null) return refused;
  const { workspaceId, hookOccurrenceId } = bearer;
  const firing = findHookOccurrenceById(runtime.reading, workspaceId, hookOccurrenceId);
  const about = firing === undefined || firing.work.test === true ? null : firing.work.task.id;
  const task = about === null ? undefined : tasks.get(runtime.reading, workspaceId, about);
  const workspace = findResource(runtime.reading, workspaceId, "workspace", workspaceId);
  return firing === undefined || task === undefined || workspace === undefined
    ? refused
    : { workspaceId, firing, task };
}
