import t from "tap";
import { createUnder, toSlug, workspaceWithTeam } from "../support/resources.js";
import { toTables } from "../support/route-table.js";
import { startTestService } from "../support/service.js";

/** Tests `If-Match`, the scope of an idempotency key, and "Versioning" (configuration API). */

const VERSION = "2026-09-23";
const base = "/api/resources";

const ifMatchForms: readonly [header: string | undefined, status: number, slug: string][] = [
  [undefined, 428, "precondition-required"],
  ["", 400, "malformed-if-match"],
  ["1", 400, "malformed-if-match"],
  ["'1'", 400, "malformed-if-match"],
  ['W/"1"', 400, "malformed-if-match"],
  ["*", 400, "malformed-if-match"],
  ['"1", "2"', 400, "malformed-if-match"],
  ['"1","1"', 400, "malformed-if-match"],
  ['"01"', 400, "malformed-if-match"],
  ['"1" ;', 400, "malformed-if-match"],
  ['"0"', 409, "moved-on"],
  ['"2"', 409, "moved-on"],
];

t.test("an update and a delete need one strong entity tag: the version in double quotes", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const team = `${base}/teams/${teamId}`;
  for (const [header, status, slug] of ifMatchForms) {
    const headers: Record<string, string> = header === undefined ? {} : { "if-match": header };
    for (const [method, body] of [
      ["PUT", { key: "core", name: "Other" }],
      ["DELETE", undefined],
    ] as const) {
      const answer = await ada.request(method, team, body, headers);
      t.same([answer.status, toSlug(answer)], [status, slug], `${method} with ${header}`);
    }
  }
  const read = await ada.request("GET", team);
  t.same([read.headers.etag, read.body?.name], ['"1"', "Core"], "none of them changed anything");
  const tag = read.headers.etag ?? "";
  const updated = await ada.request("PUT", team, { key: "core", name: "Other" }, { "if-match": tag });
  t.same([updated.status, updated.headers.etag, updated.body?.version], [200, '"2"', 2]);
  t.equal((await ada.request("DELETE", team, undefined, { "if-match": '"2"' })).status, 204);
});

t.test("an idempotency key is for one body, in any order of its members, and for one collection", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const secrets = `${base}/workspaces/${workspaceId}/secrets`;
  const body = { name: "api-key", value: "value", valueVersion: 1 };
  const first = await createUnder(ada, secrets, body, "once");
  t.same([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
  const otherOrder = await createUnder(ada, secrets, { valueVersion: 1, value: "value", name: "api-key" }, "once");
  t.same([otherOrder.status, otherOrder.body, otherOrder.headers["idempotent-replayed"]], [201, first.body, "true"]);
  const other = await createUnder(ada, secrets, { ...body, value: "another" }, "once");
  t.same([other.status, toSlug(other)], [422, "idempotency-key-reused"], "what is never read back counts too");
  const skill = { key: "greeting", name: "Greeting", files: [{ path: "SKILL.md", content: "x" }] };
  const elsewhere = await createUnder(ada, `${base}/teams/${teamId}/skills`, skill, "once");
  t.same([elsewhere.status, elsewhere.headers["idempotent-replayed"]], [201, undefined]);
});

t.test("a parameter that a route does not take is refused where a credential is needed, not ignored", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  for (const { method, path, access, admits } of toTables(service).routes) {
    const at = `${path.replace(/\{\w+\}/g, "none")}?odd=1`;
    const answer = await ada.request(method, at, method === "GET" ? undefined : "{}");
    // Skip public routes, because they need no credential. Skip routes with `admits` too: they respond that the
    // workspace does not exist before they check parameters.
    if (access === "public" || admits !== undefined) continue;
    t.ok([400, 422].includes(answer.status), `${method} ${at} answering ${answer.status}`);
  }
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const listed = await ada.request("GET", `${base}/workspaces/${workspaceId}/teams?key=core`);
  t.match(listed.body, { status: 400, detail: "key: is not a field here" });
  const removed = await ada.request("DELETE", `${base}/teams/${teamId}?force=true`, undefined, { "if-match": '"1"' });
  t.equal(removed.status, 400);
  t.equal((await ada.request("GET", `${base}/teams/${teamId}`)).status, 200, "nothing was done");
  t.equal((await service.anonymous.request("GET", "/healthz?probe=1")).status, 200);
});

t.test("every answer of every route names the version that served it", async (t) => {
  const service = await startTestService(t);
  const { routes, sockets } = toTables(service);
  const ada = await service.signIn("ada@example.com");
  for (const { method, path } of routes) {
    const at = path.replace(/\{\w+\}/g, "none");
    for (const client of [service.anonymous, ada]) {
      const { status, headers } = await client.request(method, at, method === "GET" ? undefined : "{}");
      t.equal(headers["service-api-version"], VERSION, `${method} ${path} answering ${status}`);
    }
    const refused = await ada.request(method, at, undefined, { "service-api-version": "2026-09-24" });
    t.same([refused.status, toSlug(refused)], [400, "unsupported-api-version"], `${method} ${path} of another version`);
    t.equal(refused.headers["service-api-version"], VERSION);
  }
  for (const [method, path] of [
    ["GET", "/nowhere"],
    ["PATCH", "/healthz"],
    ["OPTIONS", `${base}/workspaces`],
    ["HEAD", "/healthz"],
  ] as const) {
    t.equal((await ada.request(method, path)).headers["service-api-version"], VERSION, `${method} ${path}`);
  }
  t.ok(sockets.length > 0);
});

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a socket that opens says it too`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const ada = await service.signIn("ada@example.com");
    const socket = ada.socket("/api/stream", { "service-api-version": VERSION });
    const version = await new Promise((resolve, reject) => {
      socket.once("upgrade", ({ headers }) => resolve(headers["service-api-version"]));
      socket.once("error", reject);
    });
    socket.terminate();
    t.equal(version, VERSION);
  });
}
