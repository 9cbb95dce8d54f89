import { Validator } from "@seriousme/openapi-schema-validator";
import t, { type Test } from "tap";
import { type Route, toSuccess } from "../../../http/wire/route.js";
import type { SocketRoute } from "../../../http/wire/socket.js";
import { toTables } from "../../support/route-table.js";
import { startTestService } from "../../support/service.js";

type Content = Readonly<Record<string, { readonly schema?: unknown; readonly example?: unknown }>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly in?: string; readonly name?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly $ref?: string }>>;
  readonly security: readonly Readonly<Record<string, unknown>>[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<"responses" | "schemas", Readonly<Record<string, unknown>>>>;
}

interface Documented {
  readonly document: Document;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
}

async function documented(t: Test): Promise<Documented> {
  const service = await startTestService(t);
  const answer = await service.anonymous.request("GET", "/api/openapi.json");
  t.equal(answer.status, 200, answer.text.slice(0, 500));
  return { document: JSON.parse(answer.text) as Document, ...toTables(service) };
}

function toOperation({ document }: Documented, { method, path }: Pick<Route, "method" | "path">): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  return operation;
}

t.test("it is a valid OpenAPI 3.1 document", async (t) => {
  const { document } = await documented(t);
  t.match(document.openapi, /^3\.1\./);
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
  t.same(result.valid ? [] : result.errors, []);
  const nameless = Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name));
  t.same(nameless, [], "a schema that refers to itself has a title");
});

t.test("every route and socket is an operation with a name of its own, and nothing else is", async (t) => {
  const all = await documented(t);
  const { document, routes, sockets } = all;
  // A socket and a GET route can have the same path. They then count as one operation.
  const names = [...routes, ...sockets.map(({ path }) => ({ method: "GET", path }))];
  const wanted = [...new Set(names.map(({ method, path }) => `${method} ${path}`))];
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(found.sort(), wanted.sort());
  const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));
  t.equal(new Set(ids).size, ids.length);
  for (const route of routes)
    t.equal(toOperation(all, route).tags.length, 1, `${route.method} ${route.path} has a tag`);
});

t.test("an operation names its parameters, credentials, answers and problems", async (t) => {
  const all = await documented(t);
  for (const route of all.routes) {
    const operation = toOperation(all, route);
    const at = `${route.method} ${route.path}`;
    const names = (operation.parameters ?? []).filter(({ in: place }) => place === "path").map(({ name }) => name);
    t.same(
      names,
      [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      at,
    );
    const headers = (operation.parameters ?? []).flatMap(({ $ref }) => $ref?.split("/").at(-1) ?? []);
    t.equal(headers.includes("IfMatch"), route.headers?.["if-match"] === "required", at);
    t.equal(headers.includes("IdempotencyKey"), route.headers?.["idempotency-key"] === "required", at);
    t.equal(headers.includes("OptionalIdempotencyKey"), route.headers?.["idempotency-key"] === "optional", at);
    t.equal(operation.security.length === 0, route.access === "public" && route.credential === undefined, at);
    const statuses = Object.keys(operation.responses);
    for (const status of Object.keys(route.answers)) t.ok(statuses.includes(status), `${at} answers ${status}`);
    const refuses = operation.security.length > 0 || route.problems?.includes("unauthenticated") === true;
    t.equal(statuses.includes("401"), refuses, at);
    for (const { $ref } of Object.values(operation.responses)) {
      if ($ref !== undefined) t.ok(all.document.components.responses[$ref.split("/").at(-1) ?? ""], $ref);
    }
  }
});

t.test("every body has an example, and it is one", async (t) => {
  const all = await documented(t);
  let checked = 0;
  for (const route of all.routes) {
    const operation = toOperation(all, route);
    const at = `${route.method} ${route.path}`;
    const taken = route.takes ?? route.body;
    if (taken !== undefined) {
      const parsed = taken.safeParse(operation.requestBody?.content[route.rawBodyType ?? "application/json"]?.example);
      t.ok(parsed.success, `${at} takes its example: ${parsed.error?.message}`);
      checked += 1;
    }
    for (const [status, declared] of Object.entries(route.answers)) {
      const { body } = toSuccess(declared);
      if (body === null) continue;
      const parsed = body.safeParse(operation.responses[status]?.content?.["application/json"]?.example);
      t.ok(parsed.success, `${at} ${status} answers its example: ${parsed.error?.message}`);
      checked += 1;
    }
  }
  t.ok(checked > 80, `${checked} examples`);
});

t.test("what is taken and never given back is marked so, and is in no answer", async (t) => {
  const { document } = await documented(t);
  const { SecretInput, Secret, HookInput, Hook, RunnerPoolInput } = document.components.schemas;
  t.match(SecretInput, { properties: { value: { writeOnly: true } } });
  t.match(RunnerPoolInput, { properties: { token: { writeOnly: true } } });
  t.match(JSON.stringify(HookInput), /"secret":\{[^{}]*"writeOnly":true/);
  t.notMatch(Secret, { properties: { value: {} } });
  t.notMatch(JSON.stringify(Hook), /"secret":/);
  t.match(JSON.stringify(Hook), /"secretVersion":/);
});

t.test("what a replacement takes back as it was read is marked so, and is never required", async (t) => {
  const { document } = await documented(t);
  const { LineInput, WorkspaceTokenTrustInput, ReplayCandidateInput } = document.components.schemas;
  const readOnly = { readOnly: true };
  t.match(LineInput, {
    properties: { id: readOnly, version: readOnly, address: readOnly, teamId: readOnly, warnings: readOnly },
  });
  t.match(WorkspaceTokenTrustInput, { properties: { definedBy: readOnly } });
  t.notMatch(JSON.stringify([LineInput, WorkspaceTokenTrustInput]), /"required":\[[^\]]*"(version|definedBy)"/);
  t.notMatch(ReplayCandidateInput, { properties: { address: {} } }, "a candidate is never replaced");
});

t.test("a reader that has it is told so without getting it again", async (t) => {
  const { anonymous } = await startTestService(t);
  const first = await anonymous.request("GET", "/api/openapi.json");
  t.match(first.headers.etag, /^"[\w-]{43}"$/);
  t.equal(first.headers["cache-control"], "no-cache");
  const again = await anonymous.request("GET", "/api/openapi.json", undefined, {
    "if-none-match": first.headers.etag ?? "",
  });
  t.same([again.status, again.text, again.headers.etag], [304, "", first.headers.etag]);
  t.equal((await anonymous.request("GET", "/api/openapi.json", undefined, { "if-none-match": '"x"' })).status, 200);
});
