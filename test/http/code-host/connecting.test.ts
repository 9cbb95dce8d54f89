import t, { type Test } from "tap";
import type { CodeHost } from "../../../http/demo/code-host/code-host.js";
import { startCodeHost } from "../../support/code-host.js";
import {
  acmeOrg,
  adaThere,
  beginConnecting,
  bobThere,
  comeBack,
  connect,
  install,
} from "../../support/code-host-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { join, type Person, personAt } from "../../support/people.js";
import { bearer, listItems, remove, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService, type TestService } from "../../support/service.js";

const WHERE = "/api/workspaces/acme/code-host";
const MINUTE_MS = 60_000;

interface Office {
  readonly codeHost: CodeHost;
  readonly service: TestService;
  readonly clock: ManualClock;
  /** The owner of the workspace `acme`, who is also an admin of the organisation at the code host. */
  readonly ada: Person;
  readonly workspaceId: string;
}

async function openOffice(t: Test): Promise<Office> {
  const clock = new ManualClock();
  const codeHost = await startCodeHost(t, () => clock.now());
  const service = await startTestService(t, { clock, settings: codeHost.settings });
  const ada = await personAt(service, "ada@example.com");
  return { codeHost, service, clock, ada, ...(await workspaceWithTeam(ada)) };
}

/** Returns a refusal's status, type and message. */
function toRefusal(reply: Parameters<typeof toProblem>[0]): unknown[] {
  return [reply.status, toSlug(reply), toProblem(reply).detail];
}

t.test("an admin of the organisation connects its installation, and everyone in the workspace sees it", async (t) => {
  const { codeHost, service, ada } = await openOffice(t);
  install(codeHost, 7);
  t.same((await ada.request("GET", WHERE)).body, { host: codeHost.name, connections: [] });
  const begun = await ada.request("POST", `${WHERE}/connections`, { installationId: 7 });
  t.equal(begun.status, 200, begun.text);
  t.equal(begun.body?.expiresAt, "2026-09-23T12:10:00.000Z");
  const url = new URL(String(begun.body?.url));
  t.equal(url.pathname, "/login/oauth/authorize");
  t.match(Object.fromEntries(url.searchParams), {
    redirect_uri: `${service.baseUrl}/code-host/callback`,
    code_challenge: /^[\w-]{43}$/,
    code_challenge_method: "S256",
    state: /^[\w-]{43}$/,
  });
  const connected = await comeBack(ada, await codeHost.signIn(url.href, adaThere));
  const connection = {
    installationId: 7,
    host: codeHost.name,
    account: { login: acmeOrg.login, kind: "organization" },
    state: "connected",
    connectedBy: ada.userId,
    connectedAt: "2026-09-23T12:00:00.000Z",
  };
  t.equal(connected.status, 200, connected.text);
  t.same(connected.body, connection);
  const member = await join(service, ada, "member@example.com");
  t.same((await member.request("GET", WHERE)).body, { host: codeHost.name, connections: [connection] });
  t.same(codeHost.asked.slice(1), [
    "POST /login/oauth/access_token",
    "GET /api/v3/app/installations/7",
    "GET /api/v3/user/memberships/orgs/acme-inc",
  ]);
});

t.test("the installation on a person's own account is connected by that person alone", async (t) => {
  const { codeHost, ada } = await openOffice(t);
  install(codeHost, 8, bobThere);
  const refused = await connect(codeHost, ada, { installationId: 8, as: adaThere });
  t.equal(refused.status, 403);
  const connected = await connect(codeHost, ada, { installationId: 8, as: bobThere });
  t.equal(connected.status, 200, connected.text);
  t.same(connected.body?.account, { login: "bob-there", kind: "user" });
});

t.test("a person who does not administer the installation is refused, as for an unknown installation", async (t) => {
  const { codeHost, ada } = await openOffice(t);
  const { name } = codeHost;
  install(codeHost, 7);
  install(codeHost, 9, { id: 9_100, login: "big-enterprise", type: "Enterprise" });
  const wanted = [
    ...[403, "forbidden"],
    `You do not administer this installation on ${name}. An active admin of its organisation, or the person whose account it is on, can connect it.`,
  ];
  const no = async (what: string, installationId: number, as = bobThere) =>
    t.same(toRefusal(await connect(codeHost, ada, { installationId, as })), wanted, what);
  await no("a stranger to the organisation", 7);
  for (const membership of [
    { state: "active", role: "member" },
    { state: "active", role: "billing_manager" },
    { state: "pending", role: "admin" },
  ]) {
    codeHost.memberships.set("acme-inc/bob-there", membership);
    await no(`${membership.state} ${membership.role}`, 7);
  }
  await no("an installation that is not there", 12_345);
  await no("an installation on neither an organisation nor a person", 9, adaThere);
  t.same((await ada.request("GET", WHERE)).body?.connections, []);
});

t.test("a sign-in that the code host does not confirm is refused with the advice to sign in again", async (t) => {
  const { codeHost, ada } = await openOffice(t);
  install(codeHost, 7);
  const wanted = [
    ...[403, "forbidden"],
    `${codeHost.name} cannot confirm that you administer this installation. Please sign in there again.`,
  ];
  const back = await codeHost.signIn(await beginConnecting(ada, 7), adaThere);
  back.set("code", "another-code");
  t.same(toRefusal(await comeBack(ada, back)), wanted, "a code that is not the code host's");

  const [one, other] = [await beginConnecting(ada, 7), await beginConnecting(ada, 7)];
  const mixed = await codeHost.signIn(one, adaThere);
  mixed.set("state", new URL(other).searchParams.get("state") ?? "");
  t.same(toRefusal(await comeBack(ada, mixed)), wanted, "a code that was got under another verifier");

  const state = new URL(await beginConnecting(ada, 7)).searchParams.get("state") ?? "";
  const denied = new URLSearchParams({ state, error: "access_denied" });
  t.same(toRefusal(await comeBack(ada, denied)), wanted, "a person who did not let the service in");

  for (const status of [401, 403]) {
    codeHost.faults.set(/memberships/, { status, body: '{"message":"SAML enforcement"}' });
    t.same(toRefusal(await connect(codeHost, ada, { installationId: 7 })), wanted, `${status} about the membership`);
  }
  codeHost.faults.clear();
  install(codeHost, 8, adaThere);
  codeHost.faults.set(/GET \/api\/v3\/user$/, { status: 403, body: "{}" });
  t.same(toRefusal(await connect(codeHost, ada, { installationId: 8 })), wanted, "403 about the person");
});

t.test("only an owner or admin of the workspace connects it, checked at the beginning and at the return", async (t) => {
  const { codeHost, service, ada, workspaceId } = await openOffice(t);
  install(codeHost, 7);
  const admin = await join(service, ada, "admin@example.com", { role: "admin" });
  const member = await join(service, ada, "member@example.com");
  const token = await bearer(service, ada, { workspaceId, name: "all", scopes: ["configure"] });
  const wanted = [
    ...[403, "forbidden"],
    `Only an owner or an admin of this workspace can connect it to ${codeHost.name} or disconnect it.`,
  ];
  for (const [client, who] of [
    [member, "a member"],
    [token, "a token"],
  ] as const) {
    const refused = await client.request("POST", `${WHERE}/connections`, { installationId: 7 });
    t.same(toRefusal(refused), wanted, who);
    t.equal(refused.body?.title, "Not allowed to administer the workspace");
    t.equal(toProblem(refused).permission, "administer");
    t.same(toRefusal(await client.request("DELETE", `${WHERE}/connections/7`)), wanted, `${who} disconnecting`);
  }
  const stranger = await personAt(service, "stranger@example.com");
  t.equal((await stranger.request("POST", `${WHERE}/connections`, { installationId: 7 })).status, 404);

  const back = await codeHost.signIn(await beginConnecting(admin, 7), adaThere);
  await ada.request("PATCH", `/api/workspaces/acme/members/${admin.userId}`, { role: "member" });
  t.same(toRefusal(await comeBack(admin, back)), wanted, "an admin no more");
  t.equal(codeHost.asked.length, 1, "and the code host is not asked");
});

t.test("an installation is one workspace's: another is refused until it is disconnected there", async (t) => {
  const { codeHost, service, ada } = await openOffice(t);
  install(codeHost, 7);
  const eve = await personAt(service, "eve@example.com");
  await workspaceWithTeam(eve, "other");
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  const again = await connect(codeHost, ada, { installationId: 7 });
  t.equal(again.status, 200, "the same workspace may confirm it again");
  const wanted = [
    ...[409, "conflict"],
    `This installation on ${codeHost.name} is connected to another workspace. Please disconnect it there first.`,
  ];
  t.same(toRefusal(await connect(codeHost, eve, { installationId: 7, slug: "other" })), wanted);
  t.equal((await eve.request("DELETE", "/api/workspaces/other/code-host/connections/7")).status, 404, "not theirs");
  t.equal((await ada.request("DELETE", `${WHERE}/connections/7`)).status, 204);
  t.equal((await ada.request("DELETE", `${WHERE}/connections/7`)).status, 404, "it is gone");
  t.same((await ada.request("GET", WHERE)).body?.connections, []);
  t.equal((await connect(codeHost, eve, { installationId: 7, slug: "other" })).status, 200);
  t.same(toRefusal(await connect(codeHost, ada, { installationId: 7 })), wanted, "now the other way round");
});

t.test("of two workspaces that connect an installation at once, one gets it", async (t) => {
  const { codeHost, service, ada } = await openOffice(t);
  install(codeHost, 7);
  const eve = await personAt(service, "eve@example.com");
  await workspaceWithTeam(eve, "other");
  const both = await Promise.all([
    connect(codeHost, ada, { installationId: 7 }),
    connect(codeHost, eve, { installationId: 7, slug: "other" }),
  ]);
  t.same(both.map(({ status }) => status).sort(), [200, 409]);
});

t.test("a closed workspace releases its installations, and connects none", async (t) => {
  const { codeHost, service, ada, workspaceId } = await openOffice(t);
  install(codeHost, 7);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  const back = await codeHost.signIn(await beginConnecting(ada, 7), adaThere);
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  t.equal((await comeBack(ada, back)).status, 404);
  const eve = await personAt(service, "eve@example.com");
  await workspaceWithTeam(eve, "other");
  const connected = await connect(codeHost, eve, { installationId: 7, slug: "other" });
  t.equal(connected.status, 200, connected.text);
});

t.test("the way back is one person's, in one session, once, for ten minutes", async (t) => {
  const { codeHost, service, clock, ada } = await openOffice(t);
  install(codeHost, 7);
  const detail = "This link was already used, has expired, or was not started by you in this session. Start again.";
  const wanted = [409, "conflict", detail];
  const admin = await join(service, ada, "admin@example.com", { role: "admin" });
  const back = await codeHost.signIn(await beginConnecting(ada, 7), adaThere);
  t.same(toRefusal(await comeBack(admin, back)), wanted, "another person's");
  t.same(toRefusal(await comeBack(await service.signIn(ada.email), back)), wanted, "another session's");
  t.equal((await comeBack(service.anonymous, back)).status, 401, "nobody's");
  const wrong = new URLSearchParams({ state: "nonsense", code: "x" });
  t.same(toRefusal(await comeBack(ada, wrong)), wanted, "a state that was never given");
  t.equal((await comeBack(ada, back)).status, 200);
  t.same(toRefusal(await comeBack(ada, back)), wanted, "already used");
  const late = await codeHost.signIn(await beginConnecting(ada, 7), adaThere);
  clock.advance(10 * MINUTE_MS);
  t.same(toRefusal(await comeBack(ada, late)), wanted, "too old");
  const bodies = [{}, { state: "s" }, { state: "s", code: "c", error: "e" }, { state: "s", code: "" }];
  for (const body of bodies) {
    const refused = await ada.request("POST", "/api/code-host/confirmations", body);
    t.equal(refused.status, 422, JSON.stringify(body));
  }
  for (const installationId of [0, -1, 1.5, "7", null, 1e20]) {
    const refused = await ada.request("POST", `${WHERE}/connections`, { installationId });
    t.equal(refused.status, 422, JSON.stringify(installationId));
    t.equal(toProblem(refused).errors?.[0]?.path, "installationId");
  }
});

t.test("a code host that refuses, fails or answers nonsense leads to a 502, never to a 500", async (t) => {
  const { codeHost, ada } = await openOffice(t);
  const { name, faults } = codeHost;
  install(codeHost, 7);
  const rubbish = `${name} answered with an unexpected response.`;
  const client = `${name} rejected this service's OAuth client. Check the client id and secret.`;
  const app = `${name} rejected this service's app credentials.`;
  const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) });
  const installation = { id: 7, account: acmeOrg, suspended_at: null, updated_at: "2026-09-01T10:00:00Z" };
  const cases: readonly [RegExp, Parameters<typeof faults.set>[1], string | RegExp][] = [
    [/access_token$/, { status: 500 }, `${name} answered with 500.`],
    [/access_token$/, { status: 404, body: "<html>" }, `${name} answered with 404.`],
    [/access_token$/, { status: 200, body: "canary" }, rubbish],
    [/access_token$/, json({ access_token: 7 }), rubbish],
    [/access_token$/, json({ access_token: "t", token_type: "mac" }), rubbish],
    [/access_token$/, json({ error: "incorrect_client_credentials" }), client],
    [/access_token$/, json({ access_token: "t", error: "Not a code: canary" }), client],
    [/access_token$/, { status: 302, headers: { location: "http://127.0.0.1:1/" } }, `${name} answered with 302.`],
    [/access_token$/, "drop", /^127\.0\.0\.1:\d+ could not be reached: \w+\.$/],
    [/installations/, { status: 401, body: "{}" }, app],
    [/installations/, { status: 503 }, `${name} answered with 503.`],
    [/installations/, { status: 200, body: "[" }, rubbish],
    [/installations/, json({ ...installation, account: null }), rubbish],
    [/installations/, json({ ...installation, updated_at: "yesterday" }), rubbish],
    [/installations/, json({ ...installation, id: 8 }), `${name} answered for a different installation.`],
    [/memberships/, { status: 502 }, `${name} answered with 502.`],
    [/memberships/, { status: 429 }, `${name} answered with 429.`],
    [/memberships/, { status: 403, headers: { "retry-after": "60" } }, `${name} answered with 403.`],
    [/memberships/, { status: 200, body: `"${"x".repeat(3 * 1024 * 1024)}"` }, rubbish],
    [/memberships/, json({ state: "active" }), rubbish],
  ];
  for (const [where, fault, detail] of cases) {
    faults.clear();
    faults.set(where, fault);
    const refused = await connect(codeHost, ada, { installationId: 7 });
    t.same(
      [refused.status, toSlug(refused)],
      [502, "refused-upstream"],
      `${where} ${JSON.stringify(fault).slice(0, 90)}`,
    );
    t.match(toProblem(refused).detail, detail);
  }
  faults.clear();
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200, "and then it is well again");
});

t.test("a request to a slow code host is answered with its delay, and the connection succeeds later", async (t) => {
  const { codeHost, clock, ada } = await openOffice(t);
  install(codeHost, 7);
  codeHost.faults.set(/memberships/, "hang");
  const waiting = connect(codeHost, ada, { installationId: 7 });
  await codeHost.asking(/memberships/);
  clock.advance(50_000);
  t.same(toRefusal(await waiting), [502, "refused-upstream", `${codeHost.name} took too long to answer.`]);
  codeHost.faults.clear();
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
});

t.test("an installation that is suspended there is connected as such", async (t) => {
  const { codeHost, ada } = await openOffice(t);
  install(codeHost, 7).suspended_at = "2026-09-01T10:00:00Z";
  const connected = await connect(codeHost, ada, { installationId: 7 });
  t.equal(connected.body?.state, "suspended", connected.text);
  const listed = await ada.request("GET", `${WHERE}/connections/7/repositories`);
  t.same(toRefusal(listed), [409, "conflict", `This installation is suspended on ${codeHost.name}.`]);
});

t.test("repositories are listed with a token of the installation, which is asked for once an hour", async (t) => {
  const { codeHost, service, clock, ada, workspaceId } = await openOffice(t);
  install(codeHost, 7);
  const names = Array.from({ length: 101 }, (_, index) => `acme-inc/repository-${index}`);
  codeHost.repositories.set(7, names);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  const path = `${WHERE}/connections/7/repositories`;
  const first = await ada.request("GET", path);
  t.equal(first.status, 200, first.text);
  t.same(listItems(first)[0], { name: "acme-inc/repository-0", isPrivate: true, defaultBranch: "main" });
  t.same([listItems(first).length, first.body?.next], [100, 2]);
  const second = await ada.request("GET", `${path}?page=2`);
  t.same([listItems(second).map(({ name }) => name), second.body?.next], [["acme-inc/repository-100"], null]);
  const drawn = () => codeHost.asked.filter((name) => name.endsWith("/access_tokens")).length;
  t.equal(drawn(), 1);
  clock.advance(56 * MINUTE_MS);
  await Promise.all([ada.request("GET", path), ada.request("GET", path)]);
  t.equal(drawn(), 2, "a token with less than five minutes left is not used, and two who want one ask once");

  codeHost.faults.set(/installation\/repositories/, { status: 401, body: "{}" });
  t.same(toRefusal(await ada.request("GET", path)), [502, "refused-upstream", `${codeHost.name} answered with 401.`]);
  codeHost.faults.clear();
  t.equal((await ada.request("GET", path)).status, 200);
  t.equal(drawn(), 3, "one that was not taken is not used again");

  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  const writer = await bearer(service, ada, { workspaceId, name: "writer", scopes: ["configure"] });
  t.same([(await reader.request("GET", path)).status, (await writer.request("GET", path)).status], [404, 200]);
  t.equal((await ada.request("GET", `${WHERE}/connections/8/repositories`)).status, 404);
});

t.test("without a code host, requests that need it are refused with that reason", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  t.same((await ada.request("GET", WHERE)).body, { host: null, connections: [] });
  const refused = await ada.request("POST", `${WHERE}/connections`, { installationId: 7 });
  const detail =
    "No code host is configured. The operator of this service must set CODE_HOST_URL and its related settings.";
  t.same(toRefusal(refused), [409, "conflict", detail]);
  const delivery = await service.anonymous.request("POST", "/api/code-host/deliveries", "{}");
  t.equal(delivery.status, 401);
});

t.test("a person who asks the code host too often is told to wait, and only they", async (t) => {
  const { codeHost, service, clock, ada, workspaceId } = await openOffice(t);
  install(codeHost, 7);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  const path = `${WHERE}/connections/7/repositories`;
  for (let n = 1; n < 60; n++) t.equal((await ada.request("GET", path)).status, 200);
  const refused = await ada.request("GET", path);
  t.same(toRefusal(refused), [
    429,
    "too-many-requests",
    "You sent too many requests to the code host. Try again later.",
  ]);
  t.equal(refused.headers["retry-after"], "1");
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 429);
  const writer = await bearer(service, ada, { workspaceId, name: "writer", scopes: ["configure"] });
  t.equal((await writer.request("GET", path)).status, 200);
  clock.advance(1_000);
  t.equal((await ada.request("GET", path)).status, 200);
});
