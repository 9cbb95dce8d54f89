import { z } from "zod";
import { type CallbackSubject, findCallbackSubject } from "../../actors/hooks/delivery/callback.queries.js";
import { callbackTaskSchema, callbackTaskView } from "../../actors/hooks/delivery/callback.view.js";
import { toCallbackNote } from "../../actors/hooks/delivery/callback-note.js";
import { isExpiredCallback } from "../../actors/hooks/delivery/callback-token.js";
import { workEventName } from "../../actors/hooks/hook.js";
import {
  findTeamHookOccurrence,
  hookOccurrencesPrunedBefore,
  listHookOccurrences,
} from "../../actors/hooks/hook-occurrence.queries.js";
import { currentHookOccurrence, currentHookOccurrenceSchema } from "../../actors/hooks/hook-occurrence.view.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import { taskRef } from "../../actors/tasks/task.messages.js";
import type { Runtime } from "../../runtime/runtime.js";
import { bearerToken } from "../access/authenticate.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";
import { parseBy } from "../wire/field-errors.js";
import { optionalIdempotencyKey } from "../wire/headers.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { hookFiringCursor, nextPage, pageSize, prunedBefore } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";
import { teamRoute } from "../wire/team-route.js";

export interface HookRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly expired: ExpiredCredentials;
}

const historyQuery = z.strictObject({
  hook: z.string().optional().describe("Returns only firings of the hook with this key."),
  event: workEventName.optional().describe("Returns only firings on events with this name."),
  state: z
    .enum(
      ["attempting", "waiting", "delivered", "failed", "refused"],
      "must be attempting, waiting, delivered, failed or refused",
    )
    .optional()
    .describe("Returns only firings in this state."),
  before: hookFiringCursor,
  limit: pageSize(),
});

const note = z.strictObject({ body: z.string().describe("The text of the note, 1 to 20,000 characters.") });

/** The routes for the history of a team's hooks, and the callbacks that hook receivers use. */
export function hookRoutes(options: HookRoutesOptions): readonly Route[] {
  return [...historyRoutes(options.runtime), ...callbackRoutes(options)];
}

function historyRoutes(runtime: Runtime): readonly Route[] {
  const { reading } = runtime;
  return [
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/hook-occurrences",
      summary: "List the firings of a team's hooks, newest first",
      description: "Includes every attempt of each firing, with the receiver's response. Filters combine.",
      access: "any",
      query: historyQuery,
      answers: {
        200: z.strictObject({
          items: z.array(currentHookOccurrenceSchema).describe("The firings of this page, newest first."),
          next: nextPage("before"),
          prunedBefore,
        }),
      },
      handle: async (request, team) => {
        const { query } = request;
        const { rows, next } = await readListPageInSlices(
          query,
          (page) => readPage(runtime, request, listHookOccurrences(team, query, page)),
          byId,
        );
        const items = await inPieces(rows, request, (row) => currentHookOccurrence(runtime, team.workspaceId, row));
        const pruned =
          next === null ? hookOccurrencesPrunedBefore(reading, team.workspaceId, runtime.clock.now()) : null;
        return { status: 200, body: { items, next, prunedBefore: pruned } };
      },
    }),
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/hook-occurrences/{id}",
      summary: "Read a firing of a hook, with every attempt",
      description: "For callers who may read the team's outcomes. Secrets in requests are masked.",
      access: "any",
      answers: { 200: currentHookOccurrenceSchema },
      handle: ({ params }, team) => {
        const { hookOccurrence } = granted(findTeamHookOccurrence(reading, team, params.id ?? ""));
        return { status: 200, body: currentHookOccurrence(runtime, team.workspaceId, hookOccurrence) };
      },
    }),
  ];
}

function callbackRoutes(options: HookRoutesOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/hook-callbacks/task",
      summary: "Read the task that a hook fired for, as its receiver",
      description: "Authenticate with `service-callback-token` of the hook's request, which is valid for 15 minutes.",
      access: "public",
      credential: "callback",
      answers: { 200: callbackTaskSchema },
      problems: ["unauthenticated"],
      handle: (request) => ({
        status: 200,
        body: callbackTaskView(options.runtime.reading, toSubject(options, request)),
      }),
    }),
    route({
      method: "POST",
      path: "/api/hook-callbacks/notes",
      summary: "Add a note to the task that a hook fired for",
      description:
        "Authenticate with `service-callback-token` of the hook's request, which is valid for 15 minutes. The note " +
        "names the hook as its sender.",
      access: "public",
      credential: "callback",
      // The handler parses the body after it checks the token, so the response to an invalid token reveals nothing
      // about the body.
      body: z.unknown(),
      takes: note,
      headers: { "idempotency-key": "optional" },
      answers: { 204: null },
      problems: ["unauthenticated"],
      handle: (request) => addNote(options, request),
    }),
  ];
}

async function addNote(options: HookRoutesOptions, request: Pick<RouteRequest, "body" | "header">): Promise<Outcome> {
  const subject = toSubject(options, request);
  const key = granted(optionalIdempotencyKey(request.header("idempotency-key")));
  const parsed = parseBy(note, request.body);
  if ("errors" in parsed) return { refused: "invalid", errors: parsed.errors };
  const message = granted(toCallbackNote(subject, { text: parsed.data.body, key }));
  await options.runtime.ask(taskRef(subject.workspaceId, subject.task.id), message);
  return { status: 204 };
}

/**
 * Returns the hook occurrence and task that the request's callback token is for. Throws {@link Refused} if the token is
 * not valid.
 */
function toSubject(
  { runtime, sealer, expired }: HookRoutesOptions,
  { header }: Pick<RouteRequest, "header">,
): CallbackSubject {
  const { reading, clock } = runtime;
  const nowMs = clock.now();
  const given = bearerToken(header("authorization"));
  if (given !== null && isExpiredCallback(sealer, given, nowMs)) expired.refusedCallback(sha256Hex(given));
  const token = given !== null && expired.has(sha256Hex(given)) ? null : given;
  return granted(findCallbackSubject({ reading, sealer, nowMs }, token));
}
