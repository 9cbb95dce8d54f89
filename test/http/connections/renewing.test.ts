import t from "tap";
import {
  askedTimes,
  type ConnectionScene,
  connect,
  integrationAt,
  oauth2At,
  openScene,
  ownOnce,
  ownState,
  sceneSettings,
} from "../../support/connection-scene.js";
import { remove, replace } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const tokenRequests = ({ host }: ConnectionScene) => host.asked.filter((path) => path === "/token").length;
const account = "mate@host";

t.test("access is renewed before it ends, with the refresh token that came last, again and again", async (t) => {
  const scene = await openScene(t);
  const { host, mate, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  clock.advance(55 * MINUTE_MS - 1);
  t.equal(tokenRequests(scene), 1, "not sooner than five minutes before its end");
  for (const round of [1, 2, 3]) {
    clock.advance(55 * MINUTE_MS);
    const renewedAt = new Date(clock.now()).toISOString();
    await askedTimes(host, "/token", 1 + round);
    const seen = await ownOnce(scene, mate, (seen) => ownState(seen) === "connected");
    t.match(seen.own, { account, expiresAt: new Date(clock.now() + HOUR_MS).toISOString(), problem: null });
    t.ok(String((seen.own as { renewedAt: string }).renewedAt) <= renewedAt);
  }
  const issued = host.issued.map((tokens) => tokens.refresh_token);
  t.equal(new Set(issued).size, 4, "the host gave a new one each time, and had none twice");
  t.ok(await host.admits(host.issued.at(-1)?.access_token ?? ""));
});

t.test("a temporary failure of a renewal is tried again, and the connection stays", async (t) => {
  const scene = await openScene(t);
  const { host, mate, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  host.failWith(503);
  clock.advance(55 * MINUTE_MS);
  const failing = await ownOnce(scene, mate, ({ own }) => (own as { problem: unknown }).problem !== null);
  t.match(failing.own, {
    state: "refreshing",
    problem: /attempt to renew the access token failed: the host answered 503/,
  });
  t.equal(failing.isReady, true, "the access is good still");
  for (const [times, waitMs] of [10_000, MINUTE_MS, 5 * MINUTE_MS].entries()) {
    clock.advance(waitMs - 1);
    t.equal(tokenRequests(scene), 2 + times, "not before its time");
    clock.advance(1);
    await askedTimes(host, "/token", 3 + times);
    await ownOnce(scene, mate, () => true);
  }
  t.equal((await ownOnce(scene, mate, () => true)).isReady, false, "by now it has run out");
  host.failWith(null);
  await ownOnce(scene, mate, (seen) => {
    clock.advance(MINUTE_MS);
    return ownState(seen) === "connected";
  });
  t.equal(host.issued.length, 2);
});

t.test("access that the host ends asks to be connected again, and is", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, at, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  await host.endGrant(host.issued[0]?.refresh_token ?? "");
  clock.advance(55 * MINUTE_MS);
  const broken = await ownOnce(scene, mate, (seen) => ownState(seen) === "broken");
  t.match(broken, { own: { account, expiresAt: null, problem: /invalid_grant.*Connect the account again/ } });
  t.equal(broken.isReady, false);
  t.match((await owner.request("GET", at)).body, { items: [{ state: "broken", email: mate.email }] });
  clock.advance(DAY_MS);
  t.equal(tokenRequests(scene), 2, "it is not asked again");
  t.match((await connect(scene, mate, { whose: "me", account })).body, { state: "connected", problem: null });
  clock.advance(55 * MINUTE_MS);
  await askedTimes(host, "/token", 4);
});

t.test("a renewal that fell due while the service was down is made once, when it is up", async (t) => {
  const scene = await openScene(t);
  const { host, mate, clock, service } = scene;
  await connect(scene, mate, { whose: "me", account });
  await service.stop();
  clock.advance(57 * MINUTE_MS);
  const settings = { ...sceneSettings, OUTBOUND_ALLOW: host.url };
  const next = await startTestService(t, { clock, settings, folder: service.folder });
  const session = next.withSession(mate.credentials.cookie?.replace("session=", "") ?? "");
  await askedTimes(host, "/token", 2);
  await ownOnce(scene, session, (seen) => ownState(seen) === "connected");
  t.equal(host.issued.length, 2);
});

t.test("a renewal in progress at a stop is repeated after the start", async (t) => {
  const scene = await openScene(t);
  const { host, mate, clock, service } = scene;
  await connect(scene, mate, { whose: "me", account });
  host.failWith("silence");
  clock.advance(55 * MINUTE_MS);
  await askedTimes(host, "/token", 2);
  t.equal(ownState(await ownOnce(scene, mate, () => true)), "refreshing");
  await service.stop();
  host.failWith(null);
  const settings = { ...sceneSettings, OUTBOUND_ALLOW: host.url };
  const next = await startTestService(t, { clock, settings, folder: service.folder });
  const session = next.withSession(mate.credentials.cookie?.replace("session=", "") ?? "");
  await ownOnce(scene, session, (seen) => ownState(seen) === "connected");
  t.same([tokenRequests(scene), host.issued.length], [3, 2]);
});

t.test("disconnecting revokes the tokens at the host, and nobody disconnects another person", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, at, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  await connect(scene, owner, { whose: "team", account: "bot@host" });
  for (const client of [owner, mate]) {
    t.equal((await client.request("DELETE", `${at}/${mate.userId}`)).status, 404);
    t.equal((await client.request("POST", `${at}/${mate.userId}`, {})).status, 404);
  }
  t.equal((await mate.request("DELETE", `${at}/team`)).status, 403);
  t.equal((await owner.request("DELETE", `${at}/me`)).status, 409, "the owner has none");
  const access = host.issued[0]?.access_token ?? "";
  t.ok(await host.admits(access));
  t.equal((await mate.request("DELETE", `${at}/me`)).status, 204);
  await askedTimes(host, "/token/revocation", 1);
  while (await host.admits(access)) await new Promise((resolve) => setImmediate(resolve));
  t.match((await mate.request("GET", `${at}/me`)).body, { own: null, isReady: false });
  t.equal((await mate.request("DELETE", `${at}/me`)).status, 409);
  t.ok(await host.admits(host.issued[1]?.access_token ?? ""), "the team's is another");
  t.equal((await owner.request("DELETE", `${at}/team`)).status, 204);
  await askedTimes(host, "/token/revocation", 2);
  clock.advance(DAY_MS);
  t.equal(tokenRequests(scene), 2, "nothing is renewed any more");
});

const leavings: readonly [what: string, leave: (scene: ConnectionScene) => Promise<{ readonly status: number }>][] = [
  [
    "the team, taken off it",
    ({ owner, mate, teamId }) => owner.request("DELETE", `/api/teams/${teamId}/members/${mate.userId}`),
  ],
  [
    "the team by themselves",
    ({ mate, teamId }) => mate.request("DELETE", `/api/teams/${teamId}/members/${mate.userId}`),
  ],
  ["the workspace", ({ owner, mate }) => owner.request("DELETE", `/api/workspaces/acme/members/${mate.userId}`)],
];

for (const [what, leave] of leavings) {
  t.test(`a person's connection ends when they leave ${what}, and coming back brings none of it back`, async (t) => {
    const scene = await openScene(t);
    const { host, mate, owner, at, teamId, clock } = scene;
    await connect(scene, mate, { whose: "me", account });
    await connect(scene, owner, { whose: "team", account: "bot@host" });
    t.equal((await mate.request("PUT", `${at}/me/tools`, { ask: ["comment"] })).status, 200);
    t.equal((await leave(scene)).status, 204);
    await askedTimes(host, "/token/revocation", 1);
    t.match((await owner.request("GET", at)).body, { items: [{ holder: "team", state: "connected" }] });
    t.equal(host.asked.filter((path) => path === "/token/revocation").length, 1, "the team keeps its own");
    const back = await owner.request("POST", `/api/teams/${teamId}/members`, { userId: mate.userId });
    if (back.status === 200) {
      const seen = await mate.request("GET", `${at}/me`);
      t.match(seen.body, { own: null, isReady: false, tools: [{ ask: false }, {}] });
    }
    clock.advance(55 * MINUTE_MS);
    while (host.issued.length < 3) await new Promise((resolve) => setImmediate(resolve));
    t.equal(tokenRequests(scene), 3, "the team's alone is renewed");
  });
}

t.test("a deleted integration ends its connections, a closed workspace asks nobody anything", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, integrationId, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  t.equal((await remove(owner, `/api/resources/integrations/${integrationId}`, 1)).status, 204);
  await askedTimes(host, "/token/revocation", 1);
  const other = await openScene(t);
  await connect(other, other.mate, { whose: "me", account });
  t.equal((await remove(other.owner, `/api/resources/workspaces/${other.workspaceId}`, 1)).status, 204);
  for (const each of [clock, other.clock]) each.advance(DAY_MS);
  t.equal((await other.mate.request("GET", `${other.at}/me`)).status, 404);
  t.same(
    other.host.asked.filter((path) => path.startsWith("/token")),
    ["/token"],
  );
  t.equal(tokenRequests(scene), 1);
});

t.test("a definition with another client or host takes its connections' tokens nowhere", async (t) => {
  const scene = await openScene(t);
  const { host, mate, owner, integrationId, clock } = scene;
  await connect(scene, mate, { whose: "me", account });
  const one = `/api/resources/integrations/${integrationId}`;
  const connection = { holder: "requester", oauth2: { ...oauth2At(host), scopes: ["openid"], clientAuth: "body" } };
  t.equal((await replace(owner, one, 1, integrationAt(host, { connection }))).status, 200);
  t.match(await ownOnce(scene, mate, () => true), { own: { state: "connected" } }, "what is asked for may change");
  const moved = { holder: "requester", oauth2: { ...oauth2At(host), tokenUrl: `${host.url}/elsewhere` } };
  t.equal((await replace(owner, one, 2, integrationAt(host, { connection: moved }))).status, 200);
  const broken = await ownOnce(scene, mate, (seen) => ownState(seen) === "broken");
  t.match(broken.own, { problem: /OAuth host or client has changed. Connect the account again/ });
  await askedTimes(host, "/token/revocation", 1);
  clock.advance(DAY_MS);
  t.notOk(host.asked.includes("/elsewhere"));
  const teams = { holder: "team", oauth2: oauth2At(host) };
  t.equal((await replace(owner, one, 3, integrationAt(host, { connection: teams }))).status, 200);
  t.equal((await ownOnce(scene, mate, ({ own }) => own === null)).actsAs, "team");
});

t.test("a person may be asked more than their team asks, never less", async (t) => {
  const scene = await openScene(t);
  const { mate, owner, member, at } = scene;
  const set = await mate.request("PUT", `${at}/me/tools`, { ask: ["comment"] });
  t.match(set.body, {
    tools: [
      { tool: "comment", approval: false, ask: true, approver: "person" },
      { tool: "close", approval: true, ask: false, approver: "assignee" },
    ],
  });
  t.match((await owner.request("GET", `${at}/me`)).body, { tools: [{ approver: null }, { approver: "assignee" }] });
  const wrong = await mate.request("PUT", `${at}/me/tools`, { ask: ["none"] });
  t.match([wrong.status, wrong.body], [422, { errors: [{ path: "ask[0]", message: "there is no tool none" }] }]);
  t.equal((await member.request("PUT", `${at}/me/tools`, { ask: [] })).status, 403);
  await connect(scene, mate, { whose: "me", account });
  t.equal((await mate.request("DELETE", `${at}/me`)).status, 204);
  t.match((await mate.request("GET", `${at}/me`)).body, { own: { state: "none" }, tools: [{ ask: true }, {}] });
  const both = await mate.request("PUT", `${at}/me/tools`, { ask: ["close"] });
  t.match(both.body, { tools: [{ approver: null }, { approver: "person" }] });
  t.match((await mate.request("PUT", `${at}/me/tools`, { ask: [] })).body, { own: null });
  t.match((await owner.request("GET", at)).body, { items: { length: 0 } });
});
