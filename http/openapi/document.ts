import { createDocument, type oas31, type ZodOpenApiOperationObject, type ZodOpenApiPathItemObject } from "zod-openapi";
import { API_VERSION } from "../wire/headers.js";
import type { Method, Route } from "../wire/route.js";
import type { SocketRoute } from "../wire/socket.js";
import { answerHeaders, pascal, toComponents } from "./components.js";
import { Examples } from "./examples.js";
import { toOperation } from "./operation.js";
import { ProblemResponses } from "./problem-responses.js";
import { tagGroups, toTag } from "./tags.js";
import { openBodies, toWebhooks, withWebhookComponents } from "./webhooks.js";

const about = `The API of Signalbox for configuration, tasks, hooks and replays.

Errors are problems (RFC 9457): \`application/problem+json\` with a stable \`type\`. If the caller cannot read a
resource, the service responds with 404, as if the resource did not exist. If the caller can read a resource but not
change it, the service responds with 403 and names the missing permission.

Paths under \`/api/resources\` manage configuration resources. Creating a resource requires an \`Idempotency-Key\`
header. Updating or deleting it requires an \`If-Match\` header with the version that the change is based on. Some
other writes, such as those of tasks, replay sets and replays, accept an optional \`Idempotency-Key\`, so that clients
can safely repeat them. Within an API version, fields and operations are only added.

People on a team, and workspace tokens with the scope \`work\`, open its tasks and add notes. A token closes only the
tasks that it opened. Answers, messages to runs, stops and approvals need a signed-in person.

Replays repeat past runs of a station with a proposed config, to measure what the config gains and costs. A replay set
contains ended runs. A replay candidate is a resource with the proposed station. A replay repeats every run of the set
with the candidate, and is compared with the set's baseline: a replay of the station's live config. Reading replays
requires the scope \`read\`; changing them requires \`plan\`, which \`configure\` includes.

If a credential, or an address without a credential, sends too many requests, the service responds with 429, and
\`Retry-After\` contains the number of seconds to wait. If a request needs stored data that is damaged, the service
responds with 503 \`damaged\`; a retry does not help.`;

export interface DocumentParts {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
}

/** Number of operations to create between pauses. */
const PIECE = 50;

/**
 * Creates the OpenAPI 3.1 document of the routes and sockets, with an example for each body. `pause` lets other work
 * run between the steps. The longest step is the library's creation of all schemas.
 */
export async function createOpenApi(
  { routes, sockets }: DocumentParts,
  pause: () => Promise<unknown>,
): Promise<oas31.OpenAPIObject> {
  const problems = new ProblemResponses();
  const paths: Record<string, ZodOpenApiPathItemObject> = {};
  for (const [index, route] of routes.entries()) {
    if (index % PIECE === PIECE - 1) await pause();
    paths[route.path] = { ...paths[route.path], [methodName(route.method)]: toOperation(route, problems) };
  }
  for (const socket of sockets) {
    const item = paths[socket.path] ?? {};
    paths[socket.path] = { ...item, get: withSocket(item.get, socket, problems) };
  }
  await pause();
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Signalbox",
        version: API_VERSION,
        description: about,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/" }],
      tags: [...new Set([...routes.flatMap(({ tag }) => tag ?? []), "Sockets"])].map(toTag),
      "x-tagGroups": tagGroups.map(({ name, tags }) => ({ name, tags: Object.keys(tags) })),
      paths,
      webhooks: toWebhooks(),
      components: withWebhookComponents({ ...toComponents(routes), responses: problems.components }),
    },
    // A later release of the same API version may add fields, so clients must accept unknown fields in responses.
    {
      override: ({ jsonSchema, io }) => {
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    },
  );
  await pause();
  openBodies(document);
  loosenJson(document);
  nameInputs(document, routes);
  await pause();
  addExamples(document);
  await pause();
  return document;
}

/**
 * Replaces the schema of arbitrary JSON by a schema that accepts everything. The replaced schema refers to itself,
 * which breaks generators of typed clients. Other recursive schemas cause no problem: each has a title and so is a
 * component.
 */
function loosenJson(document: oas31.OpenAPIObject): void {
  const schemas = { ...document.components?.schemas };
  const json = Object.keys(schemas).filter((name) => {
    const { anyOf } = schemas[name] as oas31.SchemaObject;
    return name.startsWith("__schema") && anyOf?.length === 6;
  });
  for (const name of json) delete schemas[name];
  const isJson = ($ref: string) => json.includes($ref.replace("#/components/schemas/", ""));
  const loosen = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(loosen);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...others } = value as { readonly $ref?: string; readonly anyOf?: unknown };
    if ($ref !== undefined && isJson($ref)) {
      // If a reference has its own description, the library repeats the schema's choices beside the reference. Drop the
      // repeated choices.
      const { anyOf: _choices, ...own } = others;
      return { description: "JSON value of any type.", ...own };
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, loosen(inner)]));
  };
  document.paths = loosen(document.paths) as oas31.PathsObject;
  document.components = { ...document.components, schemas: loosen(schemas) as typeof schemas };
}

/**
 * Turns the JSON body of each route with `takes` into a component, such as `LineInput`. If routes with the same tag
 * take different bodies, each component is named after its operation instead. The component of a `PUT` body also has
 * the resource's read-only fields, because clients may send back the resource that they read.
 */
function nameInputs(document: oas31.OpenAPIObject, routes: readonly Route[]): void {
  for (const { method, path, takes, rawBodyBytes, tag, operation, writeOnly = [] } of routes) {
    const body = document.paths?.[path]?.[methodName(method)]?.requestBody;
    if (takes === undefined || rawBodyBytes !== undefined || tag === undefined || body === undefined || "$ref" in body)
      continue;
    const media = body.content["application/json"];
    if (media?.schema === undefined) continue;
    for (const hidden of writeOnly) markWriteOnly(media.schema, hidden.split("."));
    if (method === "PUT") addReadOnly(media.schema, document.components?.schemas?.[pascal(tag)]);
    const isOnly = routes.every((other) => other.tag !== tag || other.takes === undefined || other.takes === takes);
    const name = `${pascal(isOnly ? tag : (operation ?? tag))}Input`;
    document.components = {
      ...document.components,
      schemas: { ...document.components?.schemas, [name]: media.schema },
    };
    media.schema = { $ref: `#/components/schemas/${name}` };
  }
}

function addReadOnly(input: SchemaOrReference, shown: SchemaOrReference | undefined): void {
  if ("$ref" in input || shown === undefined || "$ref" in shown) return;
  const taken = input.properties ?? {};
  const added = Object.entries(shown.properties ?? {}).filter(([name]) => taken[name] === undefined);
  const readOnly = added.map(([name, schema]) => [name, { ...schema, readOnly: true }]);
  input.properties = { ...taken, ...Object.fromEntries(readOnly) };
}

type SchemaOrReference = oas31.SchemaObject | oas31.ReferenceObject;

function markWriteOnly(schema: SchemaOrReference, path: readonly string[]): void {
  const [name, ...below] = path;
  if (name === undefined || !("properties" in schema || "anyOf" in schema)) return;
  for (const choice of schema.anyOf ?? []) markWriteOnly(choice, path);
  const field = schema.properties?.[name];
  if (field === undefined || "$ref" in field) return;
  if (below.length === 0) Object.assign(field, { writeOnly: true });
  else markWriteOnly(field, below);
}

function methodName(method: Method): "get" | "post" | "put" | "patch" | "delete" {
  return ({ GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const)[method];
}

/** Adds a socket to the document. If a GET route has the same path, adds the socket's description to this route. */
function withSocket(
  route: ZodOpenApiOperationObject | undefined,
  socket: SocketRoute,
  problems: ProblemResponses,
): ZodOpenApiOperationObject {
  const operation = socketOperation(socket, problems);
  if (route === undefined) return operation;
  const description = [operation.description, route.description].join("\n\n");
  return { ...operation, ...route, description, responses: { ...operation.responses, ...route.responses } };
}

function socketOperation(
  { path, summary, description, credentials }: SocketRoute,
  problems: ProblemResponses,
): ZodOpenApiOperationObject {
  return {
    operationId: `open${path.replace(/^\/api/, "").replace(/\/([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `Opens a WebSocket: send the upgrade headers.${description === undefined ? "" : ` ${description}`}`,
    tags: ["Sockets"],
    security: credentials.map((name) => ({ [name]: [] })),
    responses: {
      "101": { description: "The socket is open.", headers: answerHeaders },
      ...problems.read(["unauthenticated", "unsupported-api-version", "upgrade-required", "too-many-requests"]),
    },
  };
}

/** Adds an example to every JSON body and path parameter that has none, and completes partial examples. */
function addExamples(document: oas31.OpenAPIObject): void {
  const examples = new Examples(document.components?.schemas ?? {});
  for (const item of Object.values({ ...document.paths, ...document.webhooks })) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue;
      for (const media of listJsonBodies(operation)) {
        const { schema, example } = media;
        if (schema === undefined) continue;
        media.example = example === undefined ? examples.read(schema) : examples.fill(example, schema);
      }
      for (const parameter of operation.parameters ?? []) {
        if (!("schema" in parameter) || parameter.schema === undefined) continue;
        if (parameter.example === undefined && parameter.in === "path") {
          parameter.example = examples.read(parameter.schema, parameter.name);
        }
      }
    }
  }
}

function listJsonBodies({ requestBody, responses }: oas31.OperationObject): oas31.MediaTypeObject[] {
  const holders: unknown[] = [requestBody, ...Object.values(responses ?? {})];
  return holders.flatMap((holder) => {
    const content = (holder as { readonly content?: oas31.ContentObject } | undefined)?.content;
    return content?.["application/json"] ?? [];
  });
}
