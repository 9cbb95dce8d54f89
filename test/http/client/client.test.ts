import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import {
  type ApiError,
  type ClientOptions,
  ConnectionError,
  createClient,
  listAll,
} from "../../../http/client/entry.js";
import { startTestService } from "../../support/service.js";

async function signedIn(t: Test) {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const client = createClient({ baseUrl: service.baseUrl, cookie: ada.credentials.cookie ?? "" });
  return { service, client };
}

/** Starts a server that answers with the given responses in turn. The server records its requests. */
async function answering(t: Test, answers: readonly ((response: ServerResponse) => void)[]) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume();
    (answers[asked.length - 1] ?? answers.at(-1))?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const waits: number[] = [];
  const create = (options: ClientOptions = {}) =>
    createClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      wait: async (ms) => void waits.push(ms),
      ...options,
    });
  return { asked, waits, create, keys: () => asked.map(({ headers }) => headers["idempotency-key"]) };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "application/json", connection: "close", ...headers });
    response.end(JSON.stringify(body));
  };
const lost = (response: ServerResponse): void => void response.socket?.destroy();

t.test("it creates, reads, replaces and deletes", async (t) => {
  const { client } = await signedIn(t);
  const workspace = await client.post("/api/resources/workspaces", { body: { slug: "acme", name: "Acme" } });
  const path = { id: workspace.id };
  const replaced = await client.put("/api/resources/workspaces/{id}", {
    path,
    version: workspace.version,
    body: { slug: "acme", name: "Acme Inc." },
  });
  t.equal(replaced.version, 2);
  t.equal((await client.get("/api/resources/workspaces/{id}", { path })).name, "Acme Inc.");
  t.equal(await client.delete("/api/resources/workspaces/{id}", { path, version: 2 }), null);
  t.match(await client.send("get", "/api/openapi.json").then(({ text }) => text), /^\{"openapi":"3\.1/);
});

t.test("a refusal is an error that prints its detail and its fields", async (t) => {
  const { client } = await signedIn(t);
  const invalid = (await client
    .post("/api/resources/workspaces", { body: { slug: "NO", name: "" } })
    .catch((error: unknown) => error)) as ApiError;
  t.equal(invalid.slug, "invalid");
  t.equal(invalid.status, 422);
  t.match(invalid.message, /slug: .*\n.*name: /);
  t.ok(invalid.requestId);
  const missing = (await client
    .get("/api/tasks/{taskId}", { path: { taskId: "task_01KAHX5E8GJMPQS1T3V5X7Z9AB" } })
    .catch((error: unknown) => error)) as ApiError;
  t.equal(missing.slug, "not-found");
});

t.test("a list is read page by page, when its items are used up", async (t) => {
  const { create, asked } = await answering(t, [
    json(200, { items: [{ id: "occ_3" }, { id: "occ_2" }], next: "occ_2" }),
    json(200, { items: [], next: "occ_1" }),
    json(200, { items: [{ id: "occ_0" }], next: null }),
  ]);
  const path = { teamId: "team_1" };
  const all = listAll(create(), "/api/teams/{teamId}/hook-occurrences", "before", { path, query: { limit: 2 } });
  await all.next();
  await all.next();
  t.equal(asked.length, 1);
  const last = await all.next();
  t.match(last.value, { id: "occ_0" });
  t.ok((await all.next()).done);
  const list = "/api/teams/team_1/hook-occurrences?limit=2";
  t.same(
    asked.map(({ url }) => url),
    [list, `${list}&before=occ_2`, `${list}&before=occ_1`],
  );
});

t.test("429 and 503 are retried after the time that they say, under one key", async (t) => {
  const { create, waits, keys } = await answering(t, [
    json(429, {}, { "retry-after": "2" }),
    json(503, {}, { "retry-after": "1" }),
    json(201, { id: "ws_1" }),
  ]);
  const made = await create().post("/api/resources/workspaces", { body: { slug: "acme", name: "Acme" } });
  t.same(made, { id: "ws_1" });
  t.same(waits, [2_000, 1_000]);
  t.equal(new Set(keys()).size, 1);
  t.match(keys()[0], /^[0-9a-z]{1,7}(-[0-9a-z]{1,7}){3}$/);
});

t.test("it gives up when the wait would be longer than allowed, and without a retry-after", async (t) => {
  const { create, waits } = await answering(t, [
    json(503, { type: "urn:service:problem:unavailable", detail: "Busy." }, { "retry-after": "61" }),
    json(503, { type: "urn:service:problem:damaged", detail: "Damaged." }),
  ]);
  const client = create();
  await t.rejects(client.get("/api/sessions/me"), { status: 503, message: "Busy.", slug: "unavailable" });
  await t.rejects(client.get("/api/sessions/me"), { status: 503, message: "Damaged.", slug: "damaged" });
  t.same(waits, []);
});

t.test("the client's signal aborts calls and waits, except calls with a signal of their own or null", async (t) => {
  const ended = new AbortController();
  const { create, asked } = await answering(t, [json(200, {})]);
  const client = create({ signal: ended.signal });
  await client.get("/api/sessions/me");
  const reason = new Error("interrupted");
  ended.abort(reason);
  await t.rejects(client.get("/api/sessions/me"), reason);
  t.equal(asked.length, 1);
  t.same(await client.get("/api/sessions/me", { signal: null }), {});
  t.same(await client.get("/api/sessions/me", { signal: new AbortController().signal }), {});
});

t.test("a lost response fails at once, or is retried if the client is told to", async (t) => {
  const first = await answering(t, [lost]);
  await t.rejects(first.create().get("/api/sessions/me"), ConnectionError);
  t.equal(first.asked.length, 1);
  const { create, waits, keys } = await answering(t, [lost, json(502, {}), lost, json(201, { id: "ws_1" })]);
  const client = create({ retriesLost: true });
  await client.post("/api/resources/workspaces", { body: { slug: "acme", name: "Acme" }, idempotencyKey: "mine" });
  t.same(waits, [1_000, 2_000, 4_000]);
  t.same(keys(), ["mine", "mine", "mine", "mine"]);
  const writes = await answering(t, [lost]);
  const put = writes.create({ retriesLost: true }).put("/api/resources/workspaces/{id}", {
    path: { id: "ws_1" },
    version: 1,
    body: { slug: "acme", name: "Acme" },
  });
  await t.rejects(put, ConnectionError, "a PUT may have taken effect");
  t.equal(writes.asked.length, 1);
});

t.test("it follows no redirect, and reads no more than the limit", async (t) => {
  const { create, asked } = await answering(t, [
    json(302, {}, { location: "/elsewhere" }),
    json(200, { a: "x".repeat(200) }),
  ]);
  const client = create({ token: "secret", maxBytes: 100 });
  await t.rejects(client.get("/api/sessions/me"), { message: "GET /api/sessions/me answered 302" });
  await t.rejects(client.get("/api/sessions/me"), { cause: { message: /more than 100 bytes/ } });
  t.same(
    asked.map(({ url }) => url),
    ["/api/sessions/me", "/api/sessions/me"],
  );
  t.equal(asked[0]?.headers.authorization, "Bearer secret");
});

t.test("path and query are escaped, and a list is repeated", async (t) => {
  const { create, asked } = await answering(t, [json(200, { items: [] })]);
  await create().send("get", "/api/teams/{teamId}/tasks", {
    path: { teamId: "a/../b?" },
    query: { state: ["open", "a b"], limit: 3, line: undefined, assignee: null },
  });
  await t.rejects(create().send("get", "/api/teams/{teamId}/tasks", { path: { teamId: ".." } }), TypeError);
  t.equal(asked[0]?.url, "/api/teams/a%2F..%2Fb%3F/tasks?state=open&state=a+b&limit=3");
});

t.test("an aborted call ends while it waits for a retry", async (t) => {
  const ending = new AbortController();
  const client = createClient({
    fetch: async () => new Response("{}", { status: 429, headers: { "retry-after": "30" } }),
    onRetry: () => queueMicrotask(() => ending.abort(new Error("stopped"))),
  });
  await t.rejects(client.get("/api/sessions/me", { signal: ending.signal }), { message: "stopped" });
});
