import { z } from "zod";
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiParameters, ZodOpenApiResponseObject } from "zod-openapi";
import { listIdCursors } from "../wire/paging.js";
import type { ProblemSlug } from "../wire/problem.js";
import { isServedReadOnly, type Route, type Success, toAnswers, toSuccess } from "../wire/route.js";
import { answerHeaders, pascal, sharedParameter } from "./components.js";
import type { ProblemResponses } from "./problem-responses.js";

/** Returns the operation of a route. `addExamples` adds missing examples later. */
export function toOperation(route: Route, problems: ProblemResponses): ZodOpenApiOperationObject {
  const body = route.takes ?? route.body;
  return {
    operationId: toOperationId(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.tag === undefined ? {} : { tags: [route.tag] }),
    security: toSecurity(route),
    requestParams: toParams(route),
    parameters: listHeaders(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: { [route.rawBodyType ?? "application/json"]: { schema: body, ...toExample(route.example) } },
          },
        }),
    responses: { ...problems.read(listProblems(route)), ...toResponses(route) },
  };
}

/** Returns the route's own operation id, or one derived from method and path: `getTeamsTasks`, `getTasksByTaskId`. */
function toOperationId({ method, path, operation }: Route): string {
  if (operation !== undefined) return operation;
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== "api");
  const words = segments.map((segment, index) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) return pascal(segment);
    return index === segments.length - 1 ? `By${pascal(name)}` : "";
  });
  return `${method.toLowerCase()}${words.join("")}`;
}

function toSecurity({ access, credential }: Route): oas31.SecurityRequirementObject[] {
  if (credential !== undefined) return [{ [credential]: [] }];
  if (access === "public") return [];
  return access === "person" ? [{ session: [] }] : [{ session: [] }, { token: [] }];
}

function toParams(route: Route): ZodOpenApiParameters {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
  return {
    ...(names.length === 0
      ? {}
      : { path: z.object(Object.fromEntries(names.map((name) => [name, pathParameter(name)]))) }),
    ...(route.query instanceof z.ZodObject ? { query: route.query } : {}),
  };
}

const pathParameters: Readonly<Record<string, string>> = {
  actionRunId: "Id of the action run, as the list of action runs shows it.",
  approvalId: "Id of the approval request, `apr_` and a ULID.",
  archiveId: "Id of the archive, a pack of git commits that a runner uploads or downloads.",
  attachmentId: "Id of the attachment, as the task or the run's job shows it.",
  candidateId: "Id of the search candidate, as the search shows it.",
  checkId: "Id of the replay check, as the response that started it shows it.",
  deliveryId: "Id of the webhook delivery, as the list of deliveries shows it.",
  file: "Name of the file, as the list of search files shows it.",
  hookId: "Id of the hook, which its create returned.",
  id: "Id of the object, as its create or a list shows it in `id`.",
  installationId: "Number of the app installation at the code host.",
  integrationId: "Id of the integration, which its create returned.",
  inviteId: "Id of the invite, `inv_` and a ULID.",
  lineId: "Id of the line, which its create returned.",
  n: "Index of the chunk within the archive, from 0.",
  occurrence: "Id of the event occurrence, as hook requests carry it in `occurrence`.",
  pullRequestId: "Id of the config pull request, as the pick of its candidate returns it.",
  replayId: "Id of the replay, as its start or a list shows it.",
  runId: "Id of the run, as its task or a list shows it.",
  searchId: "Id of the search, as its start or a list shows it.",
  setId: "Id of the replay set, as its create or a list shows it.",
  slug: "Slug of the workspace, its unique name in paths.",
  stationId: "Id of the station, as a read of its line shows it.",
  stationKey: "Key of the station, unique in its line.",
  taskId: "Id of the task, as its create or a list shows it.",
  teamId: "Id of the team, which its create returned.",
  token: "Secret token of the link in the mail; it acts like a password.",
  userId: "Id of the person, as the list of members shows it.",
  workspaceId: "Id of the workspace, as its create or `GET /api/sessions/me` shows it.",
};

function pathParameter(name: string): z.ZodType {
  const description = pathParameters[name];
  return description === undefined ? z.string() : z.string().describe(description);
}

function listHeaders(route: Route): oas31.ReferenceObject[] {
  const key = route.headers?.["idempotency-key"];
  return [
    ...(key === undefined ? [] : [sharedParameter(key === "required" ? "IdempotencyKey" : "OptionalIdempotencyKey")]),
    ...(route.headers?.["if-match"] === undefined ? [] : [sharedParameter("IfMatch")]),
    ...(route.headers?.["service-cause"] === undefined ? [] : [sharedParameter("ServiceCause")]),
    ...(route.method === "GET" ? [] : [sharedParameter("ServiceClient")]),
    sharedParameter("ServiceApiVersion"),
  ];
}

function toResponses(route: Route): Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject> {
  const answers: Record<string, ZodOpenApiResponseObject> = {};
  for (const [status, declared] of Object.entries(toAnswers(route))) {
    answers[status] = toAnswer(Number(status), toSuccess(declared));
  }
  return answers;
}

const descriptions: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted; processing continues in the background.",
  204: "Done; the response has no body.",
  304: "Not modified.",
  503: "Unavailable for now.",
};

function toAnswer(status: number, { body, text, headers = {}, example }: Success): ZodOpenApiResponseObject {
  const own = Object.entries(headers).map(([name, description]) => [
    headerName(name),
    { description, schema: { type: "string" } },
  ]);
  const content: ZodOpenApiResponseObject["content"] = {
    ...(body !== null && { "application/json": { schema: body, ...toExample(example) } }),
    ...(text !== undefined && { [text]: { schema: { type: "string" } } }),
  };
  return {
    description: descriptions[status] ?? "Done.",
    headers: { ...answerHeaders, ...Object.fromEntries(own) },
    ...(body === null && text === undefined ? {} : { content }),
  };
}

function headerName(name: string): string {
  if (name === "etag") return "ETag";
  return name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`);
}

function toExample(given: unknown): { readonly example?: unknown } {
  return given === undefined ? {} : { example: given };
}

/** Problems that any request can have. */
const always: readonly ProblemSlug[] = ["bad-request", "unsupported-api-version", "internal", "damaged", "unavailable"];

/**
 * Returns all problems that a route can respond with: those that its declaration implies, and those that it lists. The
 * documentation shows them, and tests check every response against them.
 */
export function listProblems(route: Route): readonly ProblemSlug[] {
  const writes = route.method !== "GET";
  const slugs = new Set<ProblemSlug>([...always, ...(route.problems ?? [])]);
  const add = (applies: boolean, ...more: ProblemSlug[]) => {
    if (applies) for (const slug of more) slugs.add(slug);
  };
  add(!isServedReadOnly(route), "read-only");
  add(route.isAlwaysAdmitted !== true, "too-many-requests");
  add(route.access !== "public", "unauthenticated");
  add(route.access !== "public" && writes, "forbidden");
  add(route.access !== "public" && route.path.includes("{"), "not-found");
  add(writes, "request-timeout", "too-large", "unsupported-media-type", "conflict");
  const hasFields = route.body !== undefined || route.takes !== undefined;
  add(hasFields || listIdCursors(route.query).length > 0, "invalid");
  const key = route.headers?.["idempotency-key"];
  add(key === "required", "idempotency-key-required", "already-exists", "in-use");
  add(key !== undefined, "idempotency-key-reused");
  add(
    route.headers?.["if-match"] !== undefined,
    ...(["malformed-if-match", "precondition-required", "moved-on", "in-use"] as const),
  );
  return [...slugs];
}
