import { generateKeyPairSync } from "node:crypto";
import t, { type Test } from "tap";
import { isBeforeEvent, workEventNames, workEvents } from "../../../actors/events/catalogue.js";
import { eventTexts } from "../../../actors/events/event-schema.js";
import { type HookRequest, hookReceiver } from "../../support/hook-receiver.js";
import { hook, ok } from "../../support/hook-scene.js";
import { startTestService, type TestService } from "../../support/service.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

/** The `webhooks` of the OpenAPI document describe the requests that hooks send. */

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Webhook {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly $ref: string }[];
  readonly requestBody: { readonly content: { readonly "application/json": Media } };
  readonly responses: Readonly<Record<string, { readonly content?: { readonly "application/json": Media } }>>;
}

interface Media {
  readonly schema: Schema;
  readonly example: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly required: boolean }>>;
  };
}

let cached: Document | null = null;

/** Reads the document once for all tests, because it is the same in each service and takes long to create. */
async function readDocument({ anonymous }: TestService): Promise<Document> {
  cached ??= JSON.parse((await anonymous.request("GET", "/api/openapi.json")).text) as Document;
  return cached;
}

/**
 * Returns the paths of the members that `value` has but the schema lacks, and of the required members that `value`
 * lacks.
 */
function findDifferences(document: Document, schema: Schema, value: unknown, path = ""): readonly string[] {
  const { $ref, anyOf, oneOf = anyOf, properties, required = [], additionalProperties } = schema;
  const named = $ref === undefined ? undefined : document.components.schemas[$ref.split("/").at(-1) ?? ""];
  if (named !== undefined) return findDifferences(document, named, value, path);
  if (oneOf !== undefined) {
    const all = oneOf.map((choice) => findDifferences(document, choice, value, path));
    return all.find((found) => found.length === 0) ?? all.flat();
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (schema.type === "null") return value === null ? [] : [`${path}: is not null`];
  if (schema.type !== "object") return isObject && schema.type !== undefined ? [`${path}: is an object`] : [];
  if (!isObject) return [`${path}: is no object`];
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}.${name}: is missing`);
  return missing.concat(
    Object.entries(value).flatMap(([name, inner]) => {
      const property = properties?.[name];
      if (property !== undefined) return findDifferences(document, property, inner, `${path}.${name}`);
      return additionalProperties === undefined ? [`${path}.${name}: is not documented`] : [];
    }),
  );
}

/** The headers that every HTTP request has. */
const plainHeaders = [
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "host",
  "user-agent",
  "authorization",
];

/**
 * Checks the headers and the body of a request against the document. The body must not have members that the schema
 * lacks.
 */
function checkRequest(t: Test, document: Document, request: HookRequest): void {
  const body = JSON.parse(request.text) as Readonly<Record<string, unknown>>;
  const webhook = document.webhooks[String(body.on)]?.post;
  const schema = webhook?.requestBody.content["application/json"].schema ?? {};
  t.same(findDifferences(document, schema, body), [], `the body of ${body.on}`);
  const parameters = (webhook?.parameters ?? []).flatMap(({ $ref }) => {
    const found = document.components.parameters[$ref.split("/").at(-1) ?? ""];
    return found === undefined ? [] : [found];
  });
  const sent = Object.keys(request.headers).filter((name) => !plainHeaders.includes(name));
  const documented = parameters.map(({ name }) => name);
  t.same(
    sent.filter((name) => !documented.includes(name)),
    [],
    `the headers of ${body.on} are documented`,
  );
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  t.same(
    required.filter((name) => !sent.includes(name)),
    [],
    `${body.on} has the required headers`,
  );
}

t.test("each event has a webhook with its timing, its body, an example and the answers of a receiver", async (t) => {
  const document = await readDocument(await startTestService(t));
  t.same(Object.keys(document.webhooks), workEventNames);
  for (const on of workEventNames) {
    const webhook = document.webhooks[on]?.post;
    const { schema, example } = webhook?.requestBody.content["application/json"] ?? {};
    t.ok(webhook?.description.startsWith(eventTexts[on].when), on);
    t.match(webhook?.description, isBeforeEvent(on) ? /waits for the answer/ : /are retried/);
    t.same(Object.keys(schema?.properties?.event?.properties ?? {}), ["at", ...Object.keys(workEvents[on].fields)]);
    t.same(findDifferences(document, schema ?? {}, example), [], `the example of ${on}`);
    t.equal(schema?.additionalProperties, undefined, "later releases may add fields");
    const answer = webhook?.responses["2XX"]?.content?.["application/json"].schema;
    t.same(answer, isBeforeEvent(on) ? { $ref: "#/components/schemas/HookAnswer" } : undefined);
  }
});

t.test("the check of a request finds members that are missing, of another kind, or not documented", async (t) => {
  const document = await readDocument(await startTestService(t));
  const { schema = {}, example = {} } =
    document.webhooks["run.ended"]?.post.requestBody.content["application/json"] ?? {};
  const find = (change: object) => findDifferences(document, schema, { ...example, ...change });
  const task = example.task as object;
  t.same(find({ more: 1 }), [".more: is not documented"]);
  t.same(find({ event: { at: "" } }), [".event.outcome: is missing"]);
  t.same(find({ run: null }), [".run: is no object"]);
  t.same(find({ task: { ...task, more: 1 } }), [".task.more: is not documented"]);
  t.match(find({ task: { ...task, openedBy: { kind: "person", userId: "", more: 1 } } }).join(), /openedBy.more/);
});

t.test("a sample of each event is sent as it is documented", async (t) => {
  const receiver = await hookReceiver(t, ok);
  const { service, ada, teamId } = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: receiver.url } });
  const document = await readDocument(service);
  for (const on of workEventNames) {
    const key = on.replace(".", "-");
    const { id } = await ada.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url, { key, on }));
    t.equal((await ada.request("POST", `/api/hooks/${id}/test`, {})).status, 202);
  }
  const requests = await receiver.arrived(workEventNames.length);
  t.same(requests.map(({ verified }) => String(verified?.on)).sort(), [...workEventNames].sort());
  for (const request of requests) checkRequest(t, document, request);
});

t.test("a request with an OIDC token is sent as it is documented", async (t) => {
  const receiver = await hookReceiver(t, ok);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const settings = { OUTBOUND_ALLOW: receiver.url, HOOK_SIGNING_KEY: key };
  const { service, ada, teamId, open } = await openWorkplace(t, { settings });
  const signing = { oidc: { audience: "https://hooks.example.com" } };
  await ada.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url, { signing }));
  await open();
  const [request] = await receiver.arrived(1);
  if (request === undefined) throw new Error("there is no request");
  checkRequest(t, await readDocument(service), request);
  t.match(request.headers.authorization, /^Bearer ey/);
  t.equal(request.headers["webhook-signature"], undefined);
});

t.test(
  "the requests of a task's events are as they are documented: opened, runs, tool calls, a handover",
  async (t) => {
    // The receiver of the hooks is also the host that the tool's requests go to.
    const receiver = await hookReceiver(t, ok);
    const tools = ["tracker.comment"];
    const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: receiver.url } });
    const { ada, service, teamId } = place;
    const hooks = `/api/resources/teams/${teamId}/hooks`;
    await ada.create(`/api/resources/teams/${teamId}/integrations`, {
      integration: "tracker",
      name: "Tracker",
      hosts: [receiver.url.slice("http://".length)],
      actions: { comment: { request: { url: `${receiver.url}/comments`, body: { text: "x" } } } },
      tools: { comment: { action: "comment", inputs: { text: { type: "string", required: true } } } },
    });
    const runners = { pool: "main" };
    const stations = [
      { key: "work", name: "Work", kind: "work", runners, tools, passesTo: ["review"] },
      { key: "review", name: "Review", kind: "review", runners },
    ];
    await ada.create(`/api/resources/teams/${teamId}/lines`, { key: "tools", name: "Tools", stations });
    const wanted = workEventNames.filter((on) => !on.startsWith("pull-request"));
    for (const on of wanted) await ada.create(hooks, hook(receiver.url, { key: on.replace(".", "-"), on }));

    const peer = await place.runner();
    await place.open({ line: "tools" });
    const job = await peer.job();
    peer.start(job);
    const { runId, fence } = job;
    const inputs = JSON.stringify({ text: "Hello" });
    peer.say({ type: "run.tool-call", runId, fence, id: "1", server: "tracker", tool: "comment", inputs });
    await peer.message("run.tool-answered");
    await peer.handOver(job, "review", "Please look.");

    const isOf = (on: string) => (request: HookRequest) => request.verified?.on === on;
    await until("a request on each event", () => wanted.every((on) => receiver.requests.some(isOf(on))));
    const document = await readDocument(service);
    for (const request of receiver.requests.filter(({ verified }) => verified !== null))
      checkRequest(t, document, request);
  },
);
