import t from "tap";
import { signInLinks } from "../../actors/access/accounts/session.table.js";
import { actorSpace, GLOBAL_PARTITION } from "../../storage/keys.js";
import { ManualClock } from "../support/manual-clock.js";
import { startTestService } from "../support/service.js";
import { signInOnPage } from "../support/sign-in-page.js";
import { until } from "../support/until.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

t.test("a person signs in over a link, is told who they are, and signs out", async (t) => {
  const service = await startTestService(t);
  const token = await service.linkFor("Ada@Example.com");
  t.match(token, /^[\w-]{43}$/, "32 random bytes");
  const opened = await service.anonymous.request("POST", "/api/sessions", { token });
  t.equal(opened.status, 204);
  t.equal(opened.text, "");
  const set = opened.headers["set-cookie"] ?? "";
  t.match(set, /^session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
  const cookie = set.split(";")[0] ?? "";
  const me = await service.anonymous.request("GET", "/api/sessions/me", undefined, { cookie });
  t.equal(me.status, 200);
  t.match(me.body, { userId: /^usr_[0-9A-Z]{26}$/, email: "ada@example.com", name: "ada", workspaces: { length: 0 } });

  const out = await service.anonymous.request("DELETE", "/api/sessions", undefined, { cookie });
  t.equal(out.status, 204);
  t.match(out.headers["set-cookie"], /^session=; Path=\/; Max-Age=0/);
  const after = await service.anonymous.request("GET", "/api/sessions/me", undefined, { cookie });
  t.equal(after.status, 401);
  t.equal(after.body?.type, "urn:service:problem:unauthenticated");
});

t.test("the same address is the same person, however it is written and whenever they come", async (t) => {
  const service = await startTestService(t);
  const [first, second] = [await service.signIn("ada@example.com"), await service.signIn("ADA@example.COM")];
  const workspace = await first.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const me = await second.request("GET", "/api/sessions/me");
  t.same(me.body?.workspaces, [{ id: workspace.id, slug: "acme", role: "owner" }]);
  t.equal((await first.request("GET", "/api/sessions/me")).body?.userId, me.body?.userId);
});

t.test("a link admits once", async (t) => {
  const service = await startTestService(t);
  const token = await service.linkFor("ada@example.com");
  const both = await Promise.all(
    [1, 2, 3].map(() => service.anonymous.request("POST", "/api/sessions", { token }).then(({ status }) => status)),
  );
  t.same(both.sort(), [204, 401, 401]);
  t.equal((await service.anonymous.request("POST", "/api/sessions", { token })).status, 401);
});

t.test("a link admits for 15 minutes and not longer", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const [early, late] = [await service.linkFor("ada@example.com"), await service.linkFor("ada@example.com")];
  clock.advance(15 * MINUTE_MS - 1);
  t.equal((await service.anonymous.request("POST", "/api/sessions", { token: early })).status, 204);
  clock.advance(1);
  const refused = await service.anonymous.request("POST", "/api/sessions", { token: late });
  t.equal(refused.status, 401);
  t.match(refused.body?.detail, /used up or too old/);
});

t.test("an address that nobody signs in with leaves nothing once its link is over", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const accounts = () => service.runtime.reading.range({ prefix: [GLOBAL_PARTITION, actorSpace, "account"] });
  const links = () => service.runtime.reading.range({ prefix: signInLinks.key(GLOBAL_PARTITION) });
  await service.linkFor("nobody@example.com");
  await service.signIn("ada@example.com");
  t.equal(accounts().length, 2);
  clock.advance(15 * MINUTE_MS);
  await until("the links to be gone", () => links().length === 0);
  t.same(
    accounts().map(({ key }) => key.at(-1)),
    ["ada@example.com"],
  );
  t.equal((await service.signIn("nobody@example.com")).credentials.cookie?.startsWith("session="), true);
});

t.test("a session lasts 30 days and not longer", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const ada = await service.signIn("ada@example.com");
  clock.advance(30 * DAY_MS - 1);
  t.equal((await ada.request("GET", "/api/sessions/me")).status, 200);
  clock.advance(1);
  t.equal((await ada.request("GET", "/api/sessions/me")).status, 401);
});

t.test("people and their sessions outlive the process", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const unused = await service.linkFor("ada@example.com");
  const before = await ada.request("GET", "/api/sessions/me");
  await service.stop();
  const next = await startTestService(t, { folder: service.folder });
  const after = await next.anonymous.request("GET", "/api/sessions/me", undefined, { ...ada.credentials });
  t.same(after.body, before.body);
  t.equal((await next.anonymous.request("POST", "/api/sessions", { token: unused })).status, 204);
});

t.test("asking for a link says nothing about who has an account, or which domains may sign in", async (t) => {
  const service = await startTestService(t, { settings: { SIGN_IN_DOMAINS: "example.com, example.org" } });
  const asked = await service.anonymous.request("POST", "/api/sign-in", { email: "eve@elsewhere.com" });
  t.equal(asked.status, 202);
  t.equal(asked.text, "");
  await service.linkFor("ada@example.org");
  t.notOk(service.logLines.some((line) => line.includes("sign-in link for eve@elsewhere.com")));
});

t.test(
  "one address is sent five links from one source in a quarter of an hour, and others from elsewhere",
  async (t) => {
    const clock = new ManualClock();
    const service = await startTestService(t, { clock, settings: { TRUSTED_PROXIES: "127.0.0.1" } });
    for (let count = 0; count < 5; count++) await service.linkFor("ada@example.com");
    clock.advance(MINUTE_MS);
    const refused = await service.anonymous.request("POST", "/api/sign-in", { email: "ADA@example.com" });
    t.equal(refused.status, 429);
    t.equal(refused.body?.type, "urn:service:problem:too-many-requests");
    t.equal(refused.headers["retry-after"], String(14 * 60));
    t.equal((await service.anonymous.request("POST", "/api/sign-in", { email: "bob@example.com" })).status, 202);
    const elsewhere = { "x-forwarded-for": "203.0.113.7" };
    const own = await service.anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" }, elsewhere);
    t.equal(own.status, 202);
    clock.advance(14 * MINUTE_MS);
    await service.linkFor("ada@example.com");
  },
);

t.test("one source asks for thirty links in a quarter of an hour", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const ask = (email: string) => service.anonymous.request("POST", "/api/sign-in", { email });
  for (let count = 0; count < 30; count++) t.equal((await ask(`person${count}@example.com`)).status, 202);
  const refused = await ask("one-more@example.com");
  t.equal(refused.status, 429);
  t.equal(refused.headers["retry-after"], String(15 * 60));
  clock.advance(15 * MINUTE_MS);
  t.equal((await ask("one-more@example.com")).status, 202);
});

t.test("a write with a cookie must come from a page of the service, or from none", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const create = (slug: string, headers: Record<string, string>) =>
    ada.request("POST", "/api/resources/workspaces", { slug, name: "Any" }, { "idempotency-key": slug, ...headers });
  const elsewhere = await create("one", { origin: "https://evil.example" });
  t.equal(elsewhere.status, 403);
  t.match(elsewhere.body, { type: "urn:service:problem:forbidden", detail: /BASE_URL/ });
  t.match(elsewhere.body?.detail, service.baseUrl, "the origin that is wanted");
  t.equal((await create("two", { origin: "null" })).status, 403);
  t.equal((await create("three", { origin: service.baseUrl })).status, 201);
  t.equal((await create("four", {})).status, 201);
  const read = await ada.request("GET", "/api/sessions/me", undefined, { origin: "https://evil.example" });
  t.equal(read.status, 200, "a read changes nothing, and no page elsewhere may see it");
  t.notOk(read.headers["access-control-allow-origin"]);
});

t.test("a bearer that admits nobody is refused even beside a good cookie", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  for (const authorization of ["Bearer nonsense", "nonsense", "Basic YTpi", "Bearer", "bearer "]) {
    const answer = await ada.request("GET", "/api/resources/workspaces", undefined, { authorization });
    t.equal(answer.status, 401, authorization);
    t.equal(answer.headers["www-authenticate"], "Bearer");
    const says = authorization === "Bearer nonsense" ? "not valid, or" : "must be Bearer <token>";
    t.match(answer.body?.detail, says);
  }
});

t.test("a workspace token acts in its workspace until it is revoked, and is no person", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const tokens = `/api/resources/workspaces/${workspace.id}/tokens`;
  const issued = await ada.request("POST", tokens, { name: "ci", scopes: ["read"] }, { "idempotency-key": "k" });
  t.equal(issued.status, 201);
  const bearer = service.withToken(issued.headers["service-workspace-token"] ?? "");
  t.equal((await bearer.request("GET", `/api/resources/workspaces/${workspace.id}`)).status, 200);
  t.equal((await bearer.request("GET", "/api/sessions/me")).status, 401, "it is nobody's session");
  const revoked = await ada.request("DELETE", `/api/resources/tokens/${issued.body?.id}`, undefined, {
    "if-match": '"1"',
  });
  t.equal(revoked.status, 204);
  t.equal((await bearer.request("GET", `/api/resources/workspaces/${workspace.id}`)).status, 401);
});

t.test("on https the cookie is only sent over https", async (t) => {
  const service = await startTestService(t, { settings: { BASE_URL: "https://signalbox.example" } });
  const token = await service.linkFor("ada@example.com");
  const opened = await service.anonymous.request("POST", "/api/sessions", { token });
  t.match(opened.headers["set-cookie"], /; HttpOnly; SameSite=Lax; Secure$/);
  t.ok(await service.logged(/sign-in link for ada@example\.com: https:\/\/signalbox\.example\/sign-in\/[\w-]{43}/));
});

t.test("the page behind a link loads nothing from elsewhere, and shows no token of its own", async (t) => {
  const service = await startTestService(t);
  const token = await service.linkFor("ada@example.com");
  const page = await service.anonymous.request("GET", `/sign-in/${token}`);
  t.equal(page.status, 200);
  t.match(page.headers["content-type"], /^text\/html/);
  const policy = page.headers["content-security-policy"] ?? "";
  t.match(policy, /default-src 'none'/);
  t.notMatch(policy, /unsafe/);
  t.notMatch(page.text, /https?:\/\//);
  t.notMatch(page.text, new RegExp(token));
  t.equal((await service.anonymous.request("POST", "/api/sessions", { token })).status, 204, "looking used nothing up");
});

t.test("after the sign-in, the page of a link continues to a task's page and nowhere else", async (t) => {
  const service = await startTestService(t);
  const open = async (hash: string) =>
    signInOnPage(`${service.baseUrl}/sign-in/${await service.linkFor("ada@example.com")}${hash}`);
  t.match(await open("#/tasks/task_1"), { cookie: /^session=/, next: `${service.baseUrl}/tasks/task_1` });
  for (const hash of ["", "#", "#//example.com", "#/tasks/../docs", "#javascript:alert(1)", "#/tasks/task_1?a"]) {
    t.match(await open(hash), { cookie: /^session=/, next: null, text: "You are signed in." }, hash);
  }
  const used = `${service.baseUrl}/sign-in/${"x".repeat(43)}#/tasks/task_1`;
  t.match(await signInOnPage(used), { cookie: "", next: null, text: /used up or too old/ });
});
