import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Clock } from "../../../runtime/clock.js";
import { type Claims, type IssuerKey, makeKeys, startIssuer, type TestIssuer } from "../../support/issuer.js";
import { ManualClock } from "../../support/manual-clock.js";
import { join as joinAs } from "../../support/people.js";
import { bearer, createUnder, problemOf, remove, replace, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const algorithms = ["ES256", "RS256", "RS384", "RS512", "ES384", "PS256"];
const keys: readonly IssuerKey[] = await makeKeys(algorithms);
const es256 = keys.slice(0, 1);
const subject = "repo:acme/app:ref:refs/heads/main";

interface Shop {
  readonly service: TestService;
  readonly issuer: TestIssuer;
  readonly ada: Client;
  readonly workspaceId: string;
  readonly trust: { readonly id: string };
  readonly body: Readonly<Record<string, unknown>>;
  readonly exchange: (token: string, headers?: Record<string, string>) => Promise<Reply>;
  /** The bearer of a freshly minted token. */
  readonly minted: (claims?: Claims) => Promise<Client & { readonly tokenId: string }>;
}

/** A workspace that trusts an issuer. */
async function openShop(
  t: Test,
  of: { terms?: object; clock?: Clock; keys?: readonly IssuerKey[] } = {},
): Promise<Shop> {
  const issuer = await startIssuer(t, of.keys ?? es256);
  const settings = { OUTBOUND_ALLOW: issuer.url };
  const service = await startTestService(t, { settings, ...(of.clock === undefined ? {} : { clock: of.clock }) });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const body = { key: "ci", issuer: issuer.url, subject: "repo:acme/app:*", scopes: ["configure"], ...of.terms };
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  const exchange = (token: string, headers = {}) =>
    service.anonymous.request("POST", "/api/workspace-tokens/exchange", { trust: trust.id, token }, headers);
  const nowMs = () => of.clock?.now() ?? Date.now();
  const minted = async (claims: Claims = {}) => {
    const reply = await exchange(await issuer.token(claims, { nowMs: nowMs() }));
    if (reply.status !== 200) throw new Error(reply.text);
    return { ...service.withToken(String(reply.body?.token)), tokenId: String(reply.body?.tokenId) };
  };
  return { service, issuer, ada, workspaceId, trust, body, exchange, minted };
}

t.test("a token of each of the six algorithms is exchanged for a workspace token, and of no other", async (t) => {
  const { service, issuer, workspaceId, exchange } = await openShop(t, { keys });
  for (const alg of algorithms) {
    const before = Date.now();
    const reply = await exchange(await issuer.token({}, { alg }));
    t.equal(reply.status, 200, `${alg} ${reply.text}`);
    const { token, tokenId, expiresAt, ...rest } = reply.body ?? {};
    t.same(rest, { workspaceId, scopes: ["configure"] });
    t.match(token, /^[A-Za-z0-9_-]{43}$/);
    t.match(tokenId, /^tok_[0-9A-Z]{26}$/);
    const lifetimeMs = Date.parse(String(expiresAt)) - before;
    t.ok(lifetimeMs >= 15 * 60_000 && lifetimeMs < 16 * 60_000, String(expiresAt));
    const read = await service.withToken(String(token)).request("GET", `/api/resources/workspaces/${workspaceId}`);
    t.equal(read.status, 200);
  }
});

t.test("a minted token does what its scopes allow in its workspace, and is in no list", async (t) => {
  const { ada, workspaceId, minted, trust } = await openShop(t);
  const ci = await minted();
  const within = `/api/resources/workspaces/${workspaceId}`;
  const team = await ci.create(`${within}/teams`, { key: "made", name: "Made" });
  t.equal((await createUnder(ci, `${within}/secrets`, { name: "s", value: "v", valueVersion: 1 }, "k")).status, 403);
  t.equal((await createUnder(ci, `${within}/tokens`, { name: "s", scopes: ["read"] }, "k")).status, 403);
  t.same((await ada.request("GET", `${within}/tokens`)).body, { items: [] });
  t.equal((await ada.request("GET", `/api/resources/tokens/${ci.tokenId}`)).status, 404);
  const me = (await ada.request("GET", "/api/sessions/me")).body?.userId;
  const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=2");
  const by = { kind: "token", userId: me, tokenId: ci.tokenId, trust: trust.id };
  t.match(log.body, {
    items: [
      { resource: "team", resourceId: team.id, by },
      { resource: "workspace-token", by },
    ],
  });
});

t.test("an exchange is recorded as a created workspace token, with trust, subject, scopes and expiry", async (t) => {
  const { ada, issuer, trust, exchange } = await openShop(t);
  const reply = await exchange(await issuer.token(), { "service-client": "iac-provider/1.2.3" });
  const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=1");
  const [change] = (log.body as { readonly items: readonly Record<string, unknown>[] }).items;
  t.match(change, {
    resource: "workspace-token",
    resourceId: reply.body?.tokenId,
    action: "created",
    client: "iac-provider/1.2.3",
    details: { trust: trust.id, subject, scopes: ["configure"], expiresAt: reply.body?.expiresAt },
  });
  t.notMatch(log.text, String(reply.body?.token));
});

t.test("patterns of the subject and of claims decide, and an audience may be one of several", async (t) => {
  const terms = { claims: { environment: "prod-*", ref_type: "branch" }, audience: "deploy" };
  const { issuer, exchange } = await openShop(t, { terms });
  const good = { aud: ["other", "deploy"], environment: "prod-eu", ref_type: "branch" };
  const status = async (claims: Claims) => (await exchange(await issuer.token({ ...good, ...claims }))).status;
  t.equal(await status({}), 200);
  t.equal(await status({ aud: "deploy" }), 200);
  const refused: readonly Claims[] = [
    { aud: "service" },
    { aud: [] },
    { aud: ["Deploy"] },
    { aud: "deploy,other" },
    { environment: "staging" },
    { environment: undefined },
    { environment: ["prod-eu"] },
    { environment: { toString: "prod-eu" } },
    { ref_type: true },
    { ref_type: "branch2" },
    { sub: "repo:acme/apple:ref:refs/heads/main" },
    { sub: "repo:acme@1/app@2:ref:refs/heads/main" },
  ];
  for (const claims of refused) t.equal(await status(claims), 401, JSON.stringify(claims));
});

t.test("both forms of a code host's subject work, each with the trust that names it", async (t) => {
  const { issuer, exchange } = await openShop(t, { terms: { subject: "repo:acme@123/app@456:*" } });
  t.equal((await exchange(await issuer.token({ sub: "repo:acme@123/app@456:ref:refs/heads/main" }))).status, 200);
  t.equal((await exchange(await issuer.token({ sub: "repo:acme@124/app@456:ref:refs/heads/main" }))).status, 401);
  t.equal((await exchange(await issuer.token())).status, 401);
});

t.test("clocks may be 30 seconds apart, and no more", async (t) => {
  const clock = new ManualClock();
  const { issuer, exchange } = await openShop(t, { clock });
  const now = Math.floor(clock.now() / 1_000);
  const status = async (claims: Claims) => (await exchange(await issuer.token(claims, { nowMs: clock.now() }))).status;
  t.equal(await status({ exp: now - 29 }), 200);
  t.equal(await status({ exp: now - 30 }), 401);
  t.equal(await status({ nbf: now + 30 }), 200);
  t.equal(await status({ nbf: now + 31 }), 401);
  t.equal(await status({ iat: now + 30 }), 200);
  t.equal(await status({ iat: now + 31 }), 401);
});

t.test("a minted token ends with its lifetime, on the very next request and on an open stream", async (t) => {
  const clock = new ManualClock();
  const { workspaceId, minted } = await openShop(t, { clock, terms: { lifetimeMinutes: 1 } });
  const ci = await minted();
  const status = async () => (await ci.request("GET", `/api/resources/workspaces/${workspaceId}`)).status;
  const reader = await StreamReader.open(ci);
  reader.subscribe(`workspace/${workspaceId}`);
  await reader.until(({ kind }) => kind === "snapshot");
  clock.advance(59_999);
  t.equal(await status(), 200);
  clock.advance(1);
  t.equal(await status(), 401);
  clock.advance(5_000);
  t.equal((await reader.closed()).code, 4_401);
});

t.test("a change of any term ends every token minted before it, and so does a delete", async (t) => {
  const { ada, trust, body, workspaceId, minted } = await openShop(t);
  const one = `/api/resources/token-trusts/${trust.id}`;
  const status = async (client: Client) =>
    (await client.request("GET", `/api/resources/workspaces/${workspaceId}`)).status;
  const changes = [{ lifetimeMinutes: 20 }, { audience: "service", claims: { actor: "*" } }, { scopes: ["read"] }];
  let version = 1;
  for (const change of changes) {
    const ci = await minted({ actor: "ada" });
    const reader = await StreamReader.open(ci);
    reader.subscribe(`workspace/${workspaceId}`);
    await reader.until(({ kind }) => kind === "snapshot");
    t.equal(await status(ci), 200);
    t.equal((await replace(ada, one, version, { ...body, ...change })).status, 200);
    version += 1;
    t.equal(await status(ci), 401, JSON.stringify(change));
    t.equal((await reader.closed()).code, 4_401, "the change is the first thing it is not told");
    t.equal((await replace(ada, one, version, body)).status, 200);
    version += 1;
    t.equal(await status(ci), 401, "as it was before is not as it was");
  }
  const last = await minted();
  t.equal((await remove(ada, one, version)).status, 204);
  t.equal(await status(last), 401);
});

t.test("a write of a trust that changes no term ends none of its tokens, and is no change", async (t) => {
  const { ada, trust, body, workspaceId, minted } = await openShop(t);
  const one = `/api/resources/token-trusts/${trust.id}`;
  const ci = await minted();
  for (const same of [body, Object.fromEntries(Object.entries(body).reverse())]) {
    const answer = await replace(ada, one, 1, same);
    t.same([answer.status, answer.headers.etag], [200, '"1"']);
    t.equal((await ci.request("GET", `/api/resources/workspaces/${workspaceId}`)).status, 200);
  }
  const changes = await ada.request("GET", "/api/workspaces/acme/configuration-changes");
  const { items } = JSON.parse(changes.text) as { items: { resource: string; action: string }[] };
  t.same(
    items.filter(({ resource }) => resource === "workspace-token-trust").map(({ action }) => action),
    ["created"],
    "nothing was recorded",
  );
});

t.test("a trust goes on when the person who defined it is demoted or leaves, and acts for them still", async (t) => {
  const { service, ada, issuer, body, workspaceId } = await openShop(t);
  const within = `/api/resources/workspaces/${workspaceId}`;
  const bob = await joinAs(service, ada, "bob@example.com", { role: "admin" });
  const { id: trust } = await bob.create(`${within}/token-trusts`, { ...body, key: "bobs" });
  const mint = async () => {
    const asked = { trust, token: await issuer.token() };
    const reply = await service.anonymous.request("POST", "/api/workspace-tokens/exchange", asked);
    t.equal(reply.status, 200, reply.text);
    return service.withToken(String(reply.body?.token));
  };
  const before = await mint();
  const member = `/api/workspaces/acme/members/${bob.userId}`;
  t.equal((await ada.request("PATCH", member, { role: "member" })).status, 200);
  await before.create(`${within}/teams`, { key: "demoted", name: "Made while its person is a member" });
  t.equal((await ada.request("DELETE", member)).status, 204);
  t.equal((await bob.request("GET", within)).status, 404, "they themselves are stopped");
  for (const [key, ci] of [
    ["before", before],
    ["after", await mint()],
  ] as const) {
    await ci.create(`${within}/teams`, { key, name: "Made by a workload" });
  }
  const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes");
  const { items } = JSON.parse(log.text) as { items: { resource: string; key: string; by: { userId: string } }[] };
  const made = items.filter(({ resource, key }) => resource === "team" && ["before", "after"].includes(key));
  t.same(
    made.map(({ by }) => by.userId),
    [bob.userId, bob.userId],
  );
  t.equal((await remove(ada, `/api/resources/token-trusts/${trust}`, 1)).status, 204);
  t.equal((await before.request("GET", within)).status, 401, "what ends it is a change or a delete of the trust");
});

t.test("a closed workspace ends its minted tokens and exchanges nothing", async (t) => {
  const { ada, issuer, workspaceId, minted, exchange } = await openShop(t);
  const ci = await minted();
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  t.equal((await ci.request("GET", `/api/resources/workspaces/${workspaceId}`)).status, 401);
  t.equal((await exchange(await issuer.token())).status, 401);
});

t.test("a minted token defines trusts only with scopes that it holds, for who defined its own", async (t) => {
  const { workspaceId, minted, body } = await openShop(t, { terms: { scopes: ["read", "trusts"] } });
  const ci = await minted();
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const more = await createUnder(ci, trusts, { ...body, key: "more", scopes: ["configure"] }, "k1");
  t.same([more.status, problemOf(more).permission], [403, "manage-token-trusts"]);
  const same = await createUnder(ci, trusts, { ...body, key: "same" }, "k2");
  t.equal(same.status, 201, same.text);
  const own = await ci.request("GET", trusts);
  const [first, second] = (own.body as { readonly items: readonly Record<string, unknown>[] }).items;
  t.equal(second?.definedBy, first?.definedBy);
});

t.test("what ended is removed from the store, a while after its end", async (t) => {
  const clock = new ManualClock();
  const { service, ada, trust, workspaceId, minted, exchange } = await openShop(t, {
    clock,
    terms: { lifetimeMinutes: 1 },
  });
  const rows = () =>
    [workspaceId, "~"].flatMap((partition) =>
      ["minted-credential", "minted-hash", "trust-refusal"].flatMap((name) =>
        service.runtime.reading.range({ prefix: [partition, "row", name] }),
      ),
    ).length;
  await minted();
  clock.advance(30_000);
  await minted();
  t.equal((await exchange("nonsense")).status, 401);
  t.equal(rows(), 5);
  const settled = async () => {
    // A write of the workspace goes through the same batches, so what was due before it is done after it.
    for (let round = 0; round < 3; round++)
      await ada.request("POST", "/api/sign-in", { email: `ada${round}@x.example` });
  };
  clock.advance(30_000);
  await settled();
  t.equal(rows(), 3, "the first is gone, the second not yet");
  clock.advance(120_000);
  await settled();
  t.equal(rows(), 1);
  t.equal((await remove(ada, `/api/resources/token-trusts/${trust.id}`, 1)).status, 204);
  clock.advance(8 * 24 * 60 * 60 * 1_000);
  await settled();
  t.equal(rows(), 0);
});

t.test("those who manage a trust read why it refused; who asked is told nothing", async (t) => {
  const { service, ada, issuer, workspaceId, trust, exchange } = await openShop(t, {
    terms: { claims: { environment: "prod" } },
  });
  const tokens = [
    await issuer.token({ environment: "staging" }),
    await issuer.token({ environment: "staging" }),
    await issuer.token({ environment: "prod", aud: "elsewhere" }),
    await issuer.token({ iss: "https://evil.example", environment: "prod" }),
  ];
  const replies: Reply[] = [];
  for (const token of tokens) replies.push(await exchange(token));
  t.same(new Set(replies.map(({ text }) => text)).size, 1);
  t.match(replies[0]?.body, { status: 401, detail: "The exchange was refused." });
  const path = `/api/resources/token-trusts/${trust.id}/refusals`;
  const listed = await ada.request("GET", path);
  t.match(listed.body, {
    items: [
      { times: 1, check: "iss", wanted: issuer.url, came: "https://evil.example", verified: false },
      { times: 1, check: "aud", wanted: "service", came: "elsewhere", verified: true },
      { times: 2, check: "claims.environment", wanted: "prod", came: "staging", verified: true },
    ],
  });
  const logged = service.logLines.filter((line) => line.includes("an exchange was refused"));
  t.equal(logged.length, 4);
  t.match(logged[2], /"check":"aud","wanted":"service","came":"elsewhere"/);
  for (const token of tokens) {
    for (const part of token.split("."))
      t.notOk(
        service.logLines.some((line) => line.includes(part)),
        "no token is logged",
      );
  }
  const reads = await bearer(service, ada, { workspaceId, name: "reads", scopes: ["read"] });
  t.match((await reads.request("GET", path)).body, { status: 403, permission: "manage-token-trusts" });
  const manages = await bearer(service, ada, { workspaceId, name: "manages", scopes: ["read", "trusts"] });
  t.equal((await manages.request("GET", path)).status, 200);
  const eve = await service.signIn("eve@example.com");
  const hidden = await eve.request("GET", path);
  const absent = await eve.request("GET", path.replace(trust.id, "trust_00000000000000000000000000"));
  t.same([hidden.status, hidden.text], [404, absent.text]);
});

t.test("the latest 20 refusals are kept", async (t) => {
  const { ada, issuer, trust, exchange } = await openShop(t);
  for (let index = 0; index < 25; index++) {
    t.equal((await exchange(await issuer.token({ aud: `wrong-${index}` }))).status, 401);
  }
  const listed = await ada.request("GET", `/api/resources/token-trusts/${trust.id}/refusals`);
  const { items } = listed.body as { readonly items: readonly { readonly came: string }[] };
  t.same(
    items.map(({ came }) => came),
    Array.from({ length: 20 }, (_, index) => `wrong-${24 - index}`),
  );
});

t.test("an issuer that is not reached is refused as anything else is, and the trust says so", async (t) => {
  const { service, ada, issuer, workspaceId, body } = await openShop(t);
  const issuerOff = await startIssuer(t, es256);
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const off = await ada.create(trusts, { ...body, key: "off", issuer: issuerOff.url });
  t.match(off.warnings, [{ path: "issuer" }, { path: "subject" }]);
  const reply = await service.anonymous.request("POST", "/api/workspace-tokens/exchange", {
    trust: off.id,
    token: await issuerOff.token(),
  });
  t.equal(reply.status, 401);
  t.match((await ada.request("GET", `/api/resources/token-trusts/${off.id}/refusals`)).body, {
    items: [{ check: "keys", came: /the discovery document cannot be fetched: must be https/, verified: false }],
  });
  t.ok(issuer.url !== issuerOff.url);
});

t.test("a body that is no exchange is said to be wrong", async (t) => {
  const { service } = await openShop(t);
  for (const body of [{}, { trust: 1, token: "x" }, { trust: "x" }, { trust: "x", token: "y", more: 1 }, []]) {
    const reply = await service.anonymous.request("POST", "/api/workspace-tokens/exchange", body);
    t.equal(reply.status, 422, reply.text);
  }
});

t.test("what was minted, and what was refused, is there after the service was started anew", async (t) => {
  const issuer = await startIssuer(t, es256);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-exchange-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const options = { folder, settings: { OUTBOUND_ALLOW: issuer.url } };
  const before = await startTestService(t, options);
  const ada = await before.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const body = { key: "ci", issuer: issuer.url, subject: "repo:acme/app:*", scopes: ["read"] };
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  const exchange = async (service: TestService, claims: Claims = {}) =>
    service.anonymous.request("POST", "/api/workspace-tokens/exchange", {
      trust: trust.id,
      token: await issuer.token(claims),
    });
  const minted = await exchange(before);
  t.equal((await exchange(before, { aud: "elsewhere" })).status, 401);
  await before.stop();
  const after = await startTestService(t, options);
  const ci = after.withToken(String(minted.body?.token));
  t.equal((await ci.request("GET", `/api/resources/workspaces/${workspaceId}`)).status, 200);
  const again = await after.signIn("ada@example.com");
  const refusals = await again.request("GET", `/api/resources/token-trusts/${trust.id}/refusals`);
  t.match(refusals.body, { items: [{ check: "aud", times: 1 }] });
  t.equal((await exchange(after)).status, 200, "keys are fetched anew");
});
