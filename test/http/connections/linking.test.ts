import { createHash } from "node:crypto";
import { createServer } from "node:http";
import t, { type Test } from "tap";
import { CLIENT, REDIRECT_URI } from "../../support/authorization-server.js";
import { comeBack, connect, integrationAt, oauth2At, openScene, setOut } from "../../support/connection-scene.js";
import { expr } from "../../support/integration.js";
import { join, personAt } from "../../support/people.js";
import { bearer, createUnder, listItems, replace, toProblem, toSlug } from "../../support/resources.js";
import type { Client } from "../../support/service.js";

t.test("an owner connects the team's account, people their own; admins see all connections", async (t) => {
  const scene = await openScene(t);
  const { owner, mate, member, at, host } = scene;
  const team = await connect(scene, owner, { whose: "team", account: "bot@host" });
  t.match([team.status, team.body], [200, { holder: "team", userId: null, account: "bot@host" }], team.text);
  const own = await connect(scene, mate, { whose: "me", account: "mate@host" });
  t.match(own.body, { holder: "person", userId: mate.userId, state: "connected", account: "mate@host" }, own.text);

  const seen = await owner.request("GET", at);
  t.match(
    listItems(seen).map(({ holder, email, account, connectedBy, scopes }) => [
      holder,
      email,
      account,
      connectedBy,
      scopes,
    ]),
    [
      ["team", null, "bot@host", owner.userId, ["openid", "offline_access"]],
      ["person", "mate@example.com", "mate@host", mate.userId, ["openid", "offline_access"]],
    ],
  );
  const first = await owner.request("GET", `${at}?limit=1`);
  const rest = await owner.request("GET", `${at}?limit=1&after=${first.body?.next}`);
  t.same([...listItems(first), ...listItems(rest)], listItems(seen));
  t.equal(rest.body?.next, null);
  for (const other of [mate, member]) t.equal((await other.request("GET", at)).status, 404);

  const asMate = await mate.request("GET", `${at}/me`);
  t.match(asMate.body, {
    actsAs: "requester",
    team: { state: "connected" },
    own: { account: "mate@host" },
    isReady: true,
  });
  const asMember = await member.request("GET", `${at}/me`);
  t.match(asMember.body, { team: { state: "connected", problem: null }, own: null, isReady: false });
  t.same(Object.keys(Object(asMember.body?.team)), ["state", "problem"], "not whose account it is");
  t.same(host.asked.filter((path) => path === "/token").length, 2);
});

t.test("owners and admins connect the team, people on it themselves, and no token anyone", async (t) => {
  const scene = await openScene(t);
  const { service, owner, mate, member, at, workspaceId } = scene;
  const admin = await join(service, owner, "admin@example.com", { role: "admin" });
  const stranger = await personAt(service, "stranger@example.com");
  const token = await bearer(service, owner, { workspaceId, name: "ci", scopes: ["configure", "secrets"] });
  const answers = async (client: Client, whose: "team" | "me", method = "POST") => {
    const { status, body } = await client.request(method, `${at}/${whose}`, method === "POST" ? {} : undefined);
    return [status, body?.title, body?.permission];
  };
  const administer = [403, "Not allowed to administer the integration", "administer"];
  for (const method of ["POST", "DELETE"]) {
    for (const client of [mate, member, token]) t.same(await answers(client, "team", method), administer);
    for (const client of [member, admin]) t.match(await answers(client, "me", method), [403, "Not on the team"]);
    t.match(await answers(token, "me", method), [401]);
    for (const whose of ["team", "me"] as const) t.match(await answers(stranger, whose, method), [404]);
  }
  t.equal((await connect(scene, admin, { whose: "team", account: "bot@host" })).status, 200);
  t.match(listItems(await admin.request("GET", at)), [{ holder: "team", connectedBy: admin.userId }]);
  t.equal((await token.request("GET", at)).status, 404);
});

t.test("a person is sent to the host with PKCE, the exact redirect address, and their own state", async (t) => {
  const scene = await openScene(t);
  const sent = new URL(await setOut(scene, scene.mate, "me"));
  const { state, code_challenge, ...rest } = Object.fromEntries(sent.searchParams);
  t.equal(sent.origin, scene.host.url);
  t.match(state, /^[\w-]{43}$/);
  t.match(code_challenge, /^[\w-]{43}$/);
  t.same(rest, {
    response_type: "code",
    client_id: CLIENT.id,
    redirect_uri: REDIRECT_URI,
    scope: "openid offline_access",
    code_challenge_method: "S256",
    prompt: "consent",
  });
  const again = new URL(await setOut(scene, scene.mate, "me"));
  t.not(again.searchParams.get("state"), state);
  t.not(again.searchParams.get("code_challenge"), code_challenge);
  const page = await scene.service.anonymous.request("GET", "/api/oauth/callback?code=c&state=s");
  t.match([page.status, page.headers["content-type"]], [200, /^text\/html/]);
  const [, script = ""] = /<script>(.*)<\/script>/s.exec(page.text) ?? [];
  const hash = createHash("sha256").update(script).digest("base64");
  t.match(page.headers["content-security-policy"], `script-src 'sha256-${hash}'`);
});

t.test("a state is of one person in one session, for ten minutes, once", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, service, clock } = scene;
  const sentTo = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
  const refused = async (what: string, ...[client, more]: [typeof mate, Record<string, unknown>?]) => {
    const answer = await comeBack(client, sentTo, more);
    t.same([answer.status, toSlug(answer)], [409, "conflict"], what);
  };
  await refused("another person", owner);
  await refused("another session", { ...mate, ...(await service.signIn(mate.email)) });
  await refused("a state that nobody was given", mate, { state: "x".repeat(43) });
  t.equal((await service.anonymous.request("POST", "/api/oauth/callback", { state: "s", code: "c" })).status, 401);
  const malformed = await mate.request("POST", "/api/oauth/callback", { state: "s" });
  t.same(
    toProblem(malformed).errors?.map(({ path }) => path),
    ["code"],
  );
  t.notOk(host.asked.includes("/token"), "no code was sent");

  t.equal((await comeBack(mate, sentTo)).status, 200, "none of them used it up");
  await refused("a second time", mate);
  const late = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
  clock.advance(10 * 60_000);
  t.equal((await comeBack(mate, late)).status, 409, "too late");
  t.equal(host.asked.filter((path) => path === "/token").length, 1);
});

t.test(
  "a code is used once: one that is brought again is refused by the host, and leaves what is connected",
  async (t) => {
    const scene = await openScene(t);
    const { host, mate, at } = scene;
    const first = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
    t.equal((await comeBack(mate, first)).status, 200);
    const state = new URL(await setOut(scene, mate, "me")).searchParams.get("state");
    const replayed = await comeBack(mate, first, { state });
    t.same([replayed.status, toSlug(replayed)], [502, "refused-upstream"]);
    t.match(toProblem(replayed).detail, /invalid_grant/);
    t.match((await mate.request("GET", `${at}/me`)).body, { own: { state: "connected", account: "mate@host" } });
  },
);

t.test("a redirect with another issuer, or without one when the host names itself, is refused", async (t) => {
  const scene = await openScene(t);
  const { host, mate } = scene;
  for (const iss of ["https://evil.example", `${host.url}/`, undefined]) {
    const sentTo = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
    t.equal(sentTo.searchParams.get("iss"), host.url);
    const answer = await comeBack(mate, sentTo, { iss });
    t.same([answer.status, toSlug(answer)], [400, "bad-request"], answer.text);
    t.equal((await comeBack(mate, sentTo)).status, 409, "the state is used up");
  }
  t.notOk(host.asked.includes("/token"), "no code was sent");
});

t.test("without an issuer the host is told by where it stands", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, integrationId } = scene;
  const { issuer: _issuer, ...rest } = oauth2At(host);
  const oauth2 = { ...rest, authorizeUrl: `${host.url}/auth`, tokenUrl: `${host.url}/token` };
  const connection = { holder: "requester", oauth2 };
  const changed = await replace(
    owner,
    `/api/resources/integrations/${integrationId}`,
    1,
    integrationAt(host, { connection }),
  );
  t.equal(changed.status, 200, changed.text);
  const sentTo = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
  t.equal((await comeBack(mate, sentTo, { iss: "https://evil.example" })).status, 400);
  t.equal((await connect(scene, mate, { whose: "me", account: "mate@host" })).status, 200);
});

t.test("a person who denies consent, or lost the permission, connects nothing", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, teamId, at } = scene;
  const denied = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host", denies: true });
  const answer = await comeBack(mate, denied);
  t.match([answer.status, toProblem(answer).detail], [409, /access was denied/]);
  const sentTo = await host.visit(await setOut(scene, mate, "me"), { account: "mate@host" });
  t.equal((await owner.request("DELETE", `/api/teams/${teamId}/members/${mate.userId}`)).status, 204);
  t.equal((await comeBack(mate, sentTo)).status, 403);
  t.equal((await mate.request("POST", `${at}/me`, {})).status, 403);
  t.notOk(host.asked.includes("/token"), "no code was sent");
});

t.test("people connect accounts of their own only where the integration acts as they", async (t) => {
  const scene = await openScene(t, {
    integration: { connection: { holder: "team", oauth2: null, token: { secret: "tracker-client" } } },
  });
  const { mate, owner, at, host, integrationId } = scene;
  for (const [client, whose] of [
    [mate, "me"],
    [owner, "team"],
  ] as const) {
    const answer = await client.request("POST", `${at}/${whose}`, {});
    t.match([answer.status, toProblem(answer).detail], [409, /no oauth2/]);
  }
  const one = `/api/resources/integrations/${integrationId}`;
  await replace(owner, one, 1, integrationAt(host, { connection: { holder: "team", oauth2: oauth2At(host) } }));
  t.match(toProblem(await mate.request("POST", `${at}/me`, {})).detail, /acts as its team/);
  t.equal((await connect(scene, owner, { whose: "team", account: "bot@host" })).status, 200);
  t.match((await mate.request("GET", `${at}/me`)).body, { actsAs: "team", own: null, isReady: true });
});

/** Starts a host with arbitrary metadata. */
async function lyingHost(t: Test, says: (url: string) => Record<string, unknown>) {
  const server = createServer((incoming, answer) => {
    const isMetadata = incoming.url === "/.well-known/oauth-authorization-server";
    answer.writeHead(isMetadata ? 200 : 404, { "content-type": "application/json" });
    answer.end(isMetadata ? JSON.stringify(says(url)) : "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return { url, host: url.replace("http://", "") };
}

const lies: readonly [what: string, says: (url: string) => Record<string, unknown>, status: number, detail: RegExp][] =
  [
    ["the clouds' metadata", () => ({ token_endpoint: "http://169.254.169.254/latest/token" }), 409, /must be https/],
    ["a private address", () => ({ token_endpoint: "https://10.0.0.1/token" }), 409, /allow-list/],
    [
      "an admitted host that is not the integration's",
      () => ({ token_endpoint: "https://other.example/token" }),
      409,
      /not among its hosts/,
    ],
    ["people to plain http", () => ({ authorization_endpoint: "http://evil.example/" }), 409, /must be https/],
    ["people to a script", () => ({ authorization_endpoint: "javascript:alert(1)" }), 502, /form/],
    ["another issuer", () => ({ issuer: "https://other.example" }), 502, /another issuer/],
    ["no S256", () => ({ code_challenge_methods_supported: ["plain"] }), 502, /S256/],
  ];

t.test("a host that sends the service or people elsewhere is not gone by", async (t) => {
  for (const [what, says, status, detail] of lies) {
    const liar = await lyingHost(t, (url) => ({
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      ...says(url),
    }));
    const scene = await openScene(t, { alsoAllowed: [liar.url, "other.example"] });
    const { owner, teamId, host } = scene;
    const oauth2 = { issuer: liar.url, clientId: "c" };
    const body = { integration: "liar", name: "Liar", hosts: [liar.host], connection: { oauth2 } };
    const { id } = await owner.create(`/api/resources/teams/${teamId}/integrations`, body);
    const answer = await owner.request("POST", `/api/integrations/${id}/connections/team`, {});
    t.match([answer.status, toProblem(answer).detail], [status, detail], `${what}: ${answer.text}`);
    t.same(host.asked, []);
  }
});

t.test(
  "an endpoint that the definition itself puts elsewhere is refused where it is written, or before anyone goes",
  async (t) => {
    const scene = await openScene(t);
    const { owner, teamId } = scene;
    const team = `/api/resources/teams/${teamId}/integrations`;
    const whole = (oauth2: Record<string, unknown>, hosts: readonly string[]) => ({
      integration: "inside",
      name: "Inside",
      hosts,
      connection: { oauth2: { clientId: "c", authorizeUrl: "https://host.example/auth", ...oauth2 } },
    });
    const inside = "http://169.254.169.254/token";
    const wrong: readonly [Record<string, unknown>, string][] = [
      [{ tokenUrl: inside }, "connection.oauth2.tokenUrl"],
      [{ tokenUrl: "https://u:p@host.example/t" }, "connection.oauth2.tokenUrl"],
      [{ tokenUrl: "file:///etc/passwd" }, "connection.oauth2.tokenUrl"],
      [{}, "connection.oauth2.tokenUrl"],
      [{ tokenUrl: "https://host.example/t", parameters: { state: "mine" } }, "connection.oauth2.parameters.state"],
      [{ issuer: "https://host.example/?tenant" }, "connection.oauth2.issuer"],
    ];
    for (const [index, [oauth2, path]] of wrong.entries()) {
      const answer = await createUnder(owner, team, whole(oauth2, ["host.example"]), `wrong-${index}`);
      t.ok(
        toProblem(answer).errors?.some((error) => error.path === path),
        `${path} in ${answer.text}`,
      );
    }
    const { id } = await owner.create(team, whole({ tokenUrl: inside }, ["169.254.169.254"]));
    const answer = await owner.request("POST", `/api/integrations/${id}/connections/team`, {});
    t.match([answer.status, toProblem(answer).detail], [409, /no token request: must be https/]);
  },
);

t.test("the client's secret is sent only to hosts that it is bound to", async (t) => {
  const scene = await openScene(t);
  const { owner, workspaceId, host } = scene;
  const secrets = `/api/resources/workspaces/${workspaceId}/secrets`;
  const [secret] = listItems(await owner.request("GET", secrets));
  const bind = (version: number, hosts: readonly string[]) =>
    replace(owner, `/api/resources/secrets/${secret?.id}`, version, { name: "tracker-client", valueVersion: 1, hosts });
  const sentTo = await host.visit(await setOut(scene, owner, "team"), { account: "bot@host" });
  t.equal((await bind(1, ["elsewhere.example"])).status, 200);
  const refused = await owner.request("POST", `${scene.at}/team`, {});
  t.match([refused.status, toProblem(refused).detail], [409, `secret tracker-client is not bound to ${host.host}`]);
  const late = await comeBack(owner, sentTo);
  t.match([late.status, toProblem(late).detail], [502, /not bound/]);
  t.notOk(host.asked.includes("/token"), "it was not sent");
  t.equal((await bind(2, [host.host])).status, 200);
  t.equal((await connect(scene, owner, { whose: "team", account: "bot@host" })).status, 200);
});

t.test("an account whose name is a whole number beyond 2^53 is named by all its digits", async (t) => {
  let digits = "";
  const people = createServer((_incoming, answer) => answer.end(`{"id":${digits}}`));
  await new Promise<void>((resolve) => people.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => people.close(resolve)));
  const address = people.address();
  const named = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const scene = await openScene(t, { alsoAllowed: [`http://${named}`] });
  const { owner, host, integrationId } = scene;
  const oauth2 = { ...oauth2At(host), identityUrl: `http://${named}/me`, identity: expr("response.id") };
  const changed = integrationAt(host, { hosts: [host.host, named], connection: { holder: "team", oauth2 } });
  const put = await replace(owner, `/api/resources/integrations/${integrationId}`, 1, changed);
  t.equal(put.status, 200, put.text);
  for (digits of ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"]) {
    const connected = await connect(scene, owner, { whose: "team", account: "bot@host" });
    t.match(connected.body, { account: digits }, connected.text);
  }
});
