import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { personAt } from "../support/people.js";
import { createUnder, toProblem, workspaceWithTeam } from "../support/resources.js";
import { startTestService } from "../support/service.js";

/** Tests the field tables of workspace tokens and hooks, and the limits of both (configuration API). */

const base = "/api/resources";
const url = "https://hooks.example.com/in";
const longest = "x".repeat(64);

type Case = readonly [fields: Record<string, unknown>, path: string, message: RegExp];

const HOUR_MS = 60 * 60 * 1_000;
const inAnHour = new Date(Date.now() + HOUR_MS).toISOString();
const needsBase = /^must include read, plan or configure; secrets, runners and trusts need one of them$/;

const refusedTokens: readonly Case[] = [
  [{ name: undefined }, "name", /required/],
  [{ name: "" }, "name", /lowercase words joined by dashes/],
  [{ name: "Robot" }, "name", /lowercase words joined by dashes/],
  [{ name: "robot--2" }, "name", /lowercase words joined by dashes/],
  [{ name: "-robot" }, "name", /lowercase words joined by dashes/],
  [{ name: `${longest}x` }, "name", /at most 64 characters/],
  [{ scopes: undefined }, "scopes", /required/],
  [{ scopes: [] }, "scopes", needsBase],
  [{ scopes: ["secrets", "runners", "trusts"] }, "scopes", needsBase],
  [{ scopes: ["work", "secrets"] }, "scopes", needsBase],
  [{ scopes: ["work", "work"] }, "scopes", /^must name each scope once$/],
  [{ scopes: ["read", "plan", "read"] }, "scopes", /^must name each scope once$/],
  [{ scopes: ["admin"] }, "scopes[0]", /scope/],
  [{ description: "x".repeat(256) }, "description", /at most 255 characters/],
  [{ expiresAt: "tomorrow" }, "expiresAt", /RFC 3339/],
  [{ expiresAt: "2030-01-01" }, "expiresAt", /RFC 3339/],
  [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt", /future/],
  [{ expiresAt: "9999-12-31T23:59:59-00:01" }, "expiresAt", /before the year 10000/],
  [{ issuedBy: "usr_me" }, "issuedBy", /not a field/],
];

const takenTokens: readonly Record<string, unknown>[] = [
  { name: longest },
  { name: "a-1", description: "x".repeat(255) },
  { name: "a-2", description: "\u{1F680}".repeat(255) },
  { name: "a-3", scopes: ["trusts", "runners", "secrets", "configure", "plan", "read"] },
  { name: "a-6", scopes: ["work"] },
  { name: "a-7", scopes: ["work", "read", "secrets"] },
  { name: "a-4", expiresAt: inAnHour },
  { name: "a-5", expiresAt: "9999-12-31T23:59:59Z" },
];

t.test("a workspace token has the fields, defaults and bounds of its table", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const tokens = `${base}/workspaces/${workspaceId}/tokens`;
  for (const [index, [fields, path, message]] of refusedTokens.entries()) {
    const answer = await createUnder(ada, tokens, { name: "robot", scopes: ["read"], ...fields }, `refused-${index}`);
    t.equal(answer.status, 422, JSON.stringify(fields));
    t.match(toProblem(answer).errors, [{ path, message }], JSON.stringify(fields));
    t.equal(toProblem(answer).errors?.length, 1, "and nothing else is");
  }
  for (const [index, fields] of takenTokens.entries()) {
    const answer = await createUnder(ada, tokens, { scopes: ["read"], ...fields }, `taken-${index}`);
    t.equal(answer.status, 201, answer.text);
    t.match(answer.headers["service-workspace-token"], /^[\w-]{43}$/, "32 bytes in base64url, without a prefix");
  }
  const { id, issuedAt, ...shown } = await ada.create(tokens, { name: "robot", scopes: ["plan"] });
  t.same(shown, {
    version: 1,
    address: "robot",
    workspaceId,
    name: "robot",
    scopes: ["plan"],
    description: "",
    expiresAt: null,
    issuedBy: ada.userId,
    warnings: [],
  });
  t.match([id, issuedAt], [/^tok_/, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/]);
});

t.test("only a token's description can change; the same time in another notation is no change", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const body = { name: "robot", scopes: ["read", "secrets"], expiresAt: "2100-01-01T02:00:00+02:00" };
  const made = await ada.create(`${base}/workspaces/${workspaceId}/tokens`, body);
  t.equal(made.expiresAt, "2100-01-01T00:00:00.000Z");
  const put = (fields: Record<string, unknown>) =>
    ada.request("PUT", `${base}/tokens/${made.id}`, { ...body, ...fields }, { "if-match": '"1"' });
  for (const [path, fields] of [
    ["name", { name: "other" }],
    ["scopes", { scopes: ["read"] }],
    ["expiresAt", { expiresAt: "2100-01-01T00:00:01Z" }],
    ["expiresAt", { expiresAt: null }],
  ] as const) {
    t.match(toProblem(await put(fields)).errors, [{ path, message: "cannot be changed once it is set" }]);
  }
  const described = await put({ expiresAt: "2100-01-01T00:00:00Z", description: "For the robot." });
  t.same([described.status, described.body?.description], [200, "For the robot."], described.text);
  t.equal(described.headers["service-workspace-token"], undefined);
});

const toSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
const tells = (request: Record<string, unknown>) => ({ steps: [{ name: "tell", request: { url, ...request } }] });
const signed = (signing: unknown) => ({ signing });

const refusedHooks: readonly Case[] = [
  [{ key: "Hook" }, "key", /lowercase words joined by dashes/],
  [{ key: `${longest}x` }, "key", /at most 64 characters/],
  [{ on: undefined }, "on", /required/],
  [{ match: { tools: ["comment"] } }, "match.tools[0]", /<integration>.<tool>/],
  [{ on: "tool.used", match: { tools: ["none.comment"] } }, "match.tools[0]", /no integration of the team offers/],
  [{ match: { repositories: ["app"] } }, "match.repositories[0]", /owner\/name/],
  [{ vars: { "1st": "x" } }, 'vars["1st"]', /^must start with a letter or _, then letters, digits or _$/],
  [{ vars: { "a-b": "x" } }, 'vars["a-b"]', /^must start with a letter or _, then letters, digits or _$/],
  [{ vars: { a: 1 } }, "vars.a", /must be text/],
  [{ steps: undefined }, "steps", /required/],
  [{ steps: [] }, "steps", /at least one/],
  [{ steps: [{ name: "Tell", request: { url } }] }, "steps[0].name", /lowercase words joined by dashes/],
  [
    { steps: [{ name: "tell", call: "none.comment", request: { url } }] },
    "steps[0]",
    /exactly one of call and request/,
  ],
  [{ steps: [{ name: "tell", request: { url }, with: {} }] }, "steps[0].with", /only goes with call/],
  [tells({ headers: { "Content-Type": "text/plain" } }), 'steps[0].request.headers["Content-Type"]', /set by the serv/],
  [tells({ headers: { HOST: "x" } }), "steps[0].request.headers.HOST", /set by the service/],
  [tells({ headers: { "service-hook": "x" } }), 'steps[0].request.headers["service-hook"]', /set by the service/],
  [tells({ headers: { "X-Own": "1", "x-own": "2" } }), 'steps[0].request.headers["x-own"]', /stands twice/],
  [tells({ from: "elsewhere" }), "steps[0].request.from", /service or network/],
  [signed({ secret: toSecret(23), secretVersion: 1 }), "signing.secret", /24 to 64 base64-encoded bytes/],
  [signed({ secret: toSecret(65), secretVersion: 1 }), "signing.secret", /24 to 64 base64-encoded bytes/],
  [signed({ secret: toSecret(32).slice(6), secretVersion: 1 }), "signing.secret", /whsec_/],
  [signed({ secret: toSecret(32), secretVersion: 0 }), "signing.secretVersion", /at least 1/],
  [signed({ secret: toSecret(32) }), "signing.secretVersion", /required/],
  [signed({ secretVersion: 1 }), "signing.secret", /required on create/],
  [signed({ oidc: {} }), "signing.oidc.audience", /required/],
  [signed({ secret: toSecret(32), secretVersion: 1, oidc: { audience: "x" } }), "signing", /either/],
  [{ on: "run.ended", failure: "block" }, "failure", /before event/],
  [{ failure: "ignore" }, "failure", /continue or block/],
  [{ timeoutSeconds: 0 }, "timeoutSeconds", /at least 1/],
  [{ timeoutSeconds: 1.5 }, "timeoutSeconds", /whole number/],
];

const takenHooks: readonly Record<string, unknown>[] = [
  { key: longest },
  { key: "least", timeoutSeconds: 1, ...signed({ secret: toSecret(24), secretVersion: 1 }) },
  { key: "most", timeoutSeconds: 30, ...signed({ secret: toSecret(64), secretVersion: 7 }) },
  { key: "vars", vars: { _a1: "x", B: "" } },
  { key: "veto", on: "run.starting", failure: "block" },
  { key: "text", ...tells({ body: "text" }) },
  { key: "list", ...tells({ body: [1, true, { a: null }] }) },
];

t.test("a hook has the fields, defaults and bounds of its tables", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const hooks = `${base}/teams/${teamId}/hooks`;
  const least = { on: "task.moved", ...tells({}), ...signed({ secret: toSecret(32), secretVersion: 1 }) };
  for (const [index, [fields, path, message]] of refusedHooks.entries()) {
    const answer = await createUnder(ada, hooks, { key: "tell", ...least, ...fields }, `refused-${index}`);
    t.equal(answer.status, 422, JSON.stringify(fields));
    const found = toProblem(answer).errors?.find((error) => error.path === path);
    t.match(found?.message, message, `${path}: ${answer.text}`);
  }
  for (const [index, fields] of takenHooks.entries()) {
    const answer = await createUnder(ada, hooks, { ...least, ...fields }, `taken-${index}`);
    t.equal(answer.status, 201, answer.text);
  }
  const { id, ...shown } = await ada.create(hooks, { key: "tell", ...least });
  t.same(shown, {
    version: 1,
    address: "core/tell",
    workspaceId,
    teamId,
    key: "tell",
    on: "task.moved",
    match: { tools: [], lines: [], stations: [], repositories: [], paths: [] },
    when: null,
    vars: {},
    steps: [{ name: "tell", call: null, with: null, request: { url, headers: {}, body: null, from: "service" } }],
    // The reference does not contain `health`.
    health: { delivered: 0, refused: 0, failed: 0, waiting: 0, nextRetryAt: null },
    signing: { secretVersion: 1 },
    failure: "continue",
    timeoutSeconds: 10,
    warnings: [],
  });
  const { version, address, workspaceId: _w, teamId: _t, warnings, ...written } = shown as Record<string, unknown>;
  const again = await ada.request("PUT", `${base}/hooks/${id}`, written, { "if-match": `"${version}"` });
  t.same([again.status, again.body?.address, again.body?.warnings], [200, address, warnings], again.text);
});

t.test("a signing secret and its version change only together", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const ada = await service.signIn("ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const body = { key: "tell", on: "task.moved", ...tells({}) };
  const made = await ada.create(`${base}/teams/${teamId}/hooks`, {
    ...body,
    ...signed({ secret: toSecret(32), secretVersion: 1 }),
  });
  const put = (version: number, signing: unknown, more = {}) =>
    ada.request("PUT", `${base}/hooks/${made.id}`, { ...body, signing, ...more }, { "if-match": `"${version}"` });
  t.match(toProblem(await put(1, { secretVersion: 2 })).errors, [{ path: "signing.secret" }]);
  const same = await put(1, { secret: toSecret(40), secretVersion: 1 });
  t.match(toProblem(same).errors, [{ path: "signing.secretVersion" }]);
  t.equal((await put(1, { secretVersion: 1 }, { timeoutSeconds: 5 })).status, 200, "the secret stays");
  const rotated = await put(2, { secret: toSecret(40), secretVersion: 2 });
  t.same([rotated.status, rotated.body?.signing], [200, { secretVersion: 2 }]);
});

t.test("a hook that changes to OIDC tokens loses its secret", async (t) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const settings = { OUTBOUND_ALLOW: "hooks.example.com", HOOK_SIGNING_KEY: key };
  const service = await startTestService(t, { settings });
  const ada = await service.signIn("ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const body = { key: "tell", on: "task.moved", ...tells({}) };
  const made = await ada.create(`${base}/teams/${teamId}/hooks`, {
    ...body,
    ...signed({ secret: toSecret(32), secretVersion: 1 }),
  });
  const put = (version: number, signing: unknown, more = {}) =>
    ada.request("PUT", `${base}/hooks/${made.id}`, { ...body, signing, ...more }, { "if-match": `"${version}"` });
  const exported = async () => (await ada.request("GET", `${base}/hooks/${made.id}/hcl`)).body?.hcl;
  t.match(await exported(), /secret_wo /);
  const changed = await put(1, { oidc: { audience: "receiver" } });
  t.same([changed.status, changed.body?.signing], [200, { oidc: { audience: "receiver" } }]);
  t.notMatch(await exported(), /secret/);
  t.match(toProblem(await put(2, { secretVersion: 1 })).errors, [{ path: "signing.secret" }]);
});
