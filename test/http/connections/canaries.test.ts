import t from "tap";
import { CLIENT } from "../../support/authorization-server.js";
import { Canaries } from "../../support/canaries.js";
import {
  askedTimes,
  connect,
  integrationAt,
  oauth2At,
  openScene,
  ownOnce,
  ownState,
  setOut,
} from "../../support/connection-scene.js";
import { expr } from "../../support/integration.js";
import { replace } from "../../support/resources.js";
import { StreamReader } from "../../support/stream-reader.js";

const MINUTE_MS = 60_000;

t.test("tokens, codes and the client's secret are in no output, and nowhere in the clear", async (t) => {
  const scene = await openScene(t);
  const { service, host, owner, mate, at, clock, workspaceId, teamId, integrationId } = scene;
  const canaries = new Canaries();
  canaries.add("client secret", CLIENT.secret);
  const reader = await StreamReader.open(owner);
  const topics = [`workspace/${workspaceId}`, `team/${teamId}`, `connection/${integrationId}:team`];
  for (const topic of topics) {
    reader.subscribe(topic);
    canaries.saw(`the stream of ${topic}`, JSON.stringify(await reader.until((message) => message.topic === topic)));
  }
  const watched = { owner: canaries.watch(owner), mate: canaries.watch(mate) };
  const linking = [
    { client: owner, send: watched.owner, whose: "team", account: "bot@host" },
    { client: mate, send: watched.mate, whose: "me", account: "mate@host" },
  ] as const;
  for (const { client, send, whose, account } of linking) {
    const sentTo = await host.visit(await setOut(scene, client, whose), { account });
    const { state, code, iss } = Object.fromEntries(sentTo.searchParams);
    canaries.add("code", code ?? "");
    const back = { method: "POST", path: "/api/oauth/callback", body: { state, code, iss } };
    t.equal((await send(back)).status, 200);
    t.equal((await send(back)).status, 409);
    const { state: fresh } = Object.fromEntries(new URL(await setOut(scene, client, whose)).searchParams);
    t.equal((await send({ ...back, body: { state: fresh, code: canaries.add("code", `${code}x`), iss } })).status, 502);
  }
  clock.advance(55 * MINUTE_MS);
  while (host.issued.length < 4) await new Promise((resolve) => setImmediate(resolve));
  await ownOnce(scene, mate, (seen) => ownState(seen) === "connected");
  for (const tokens of host.issued) {
    canaries.add("access token", tokens.access_token);
    canaries.add("refresh token", tokens.refresh_token);
    canaries.add("id token", tokens.id_token);
  }
  // If a person gets two id tokens within one second, the tokens are equal and count as one canary.
  t.ok(canaries.count >= 1 + 4 + 2 * 4 + 2, `${canaries.count} canaries`);

  const within = `/api/resources/workspaces/${workspaceId}`;
  const one = `/api/resources/integrations/${integrationId}`;
  const reads = [
    ...[at, `${at}/me`, one, `${one}/hcl`, `${within}/integrations`, `${within}/export`, `${within}/hcl`],
    ...["configuration-changes", "dead-letters", "members"].map((path) => `/api/workspaces/acme/${path}`),
  ];
  for (const path of reads) for (const send of Object.values(watched)) await send({ method: "GET", path });
  t.equal((await watched.mate({ method: "DELETE", path: `${at}/me` })).status, 204);
  await askedTimes(host, "/token/revocation", 1);
  canaries.saw("the rest of the streams", JSON.stringify(reader.messages));
  reader.end();
  await service.stop();
  canaries.saw("the log", service.logLines.join("\n"));
  await canaries.sawFiles(service.folder, "owner@example.com");
  t.same(canaries.sightings(), []);
});

t.test("an account's name that would be a token, or a part of one, is none", async (t) => {
  const readings = ["response.access_token", "response.id_token", "response.scope", "response.none.deeper"];
  const seen: unknown[] = [];
  for (const reading of readings) {
    const scene = await openScene(t);
    const { owner, integrationId, host } = scene;
    const oauth2 = { ...oauth2At(host), identityUrl: null, identity: expr(reading) };
    const body = integrationAt(host, { connection: { holder: "team", oauth2 } });
    await replace(owner, `/api/resources/integrations/${integrationId}`, 1, body);
    const connected = await connect(scene, owner, { whose: "team", account: "bot@host" });
    seen.push([connected.status, connected.body?.account]);
  }
  t.same(seen, [
    [200, null],
    [200, null],
    [200, "openid offline_access"],
    [200, null],
  ]);
});
