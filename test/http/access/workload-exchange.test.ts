import t from "tap";
import { type Claims, type IssuerKey, makeKeys, startIssuer } from "../../support/issuer.js";
import { ManualClock } from "../../support/manual-clock.js";
import { bearer } from "../../support/resources.js";
import type { Reply } from "../../support/service.js";
import { openShop } from "../../support/token-shop.js";

const algorithms = ["ES256", "RS256", "RS384", "RS512", "ES384", "PS256"];
const keys: readonly IssuerKey[] = await makeKeys(algorithms);
const es256 = keys.slice(0, 1);
const subject = "repo:acme/app:ref:refs/heads/main";

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

t.test("those who manage a trust read why it refused; the workload is not told", async (t) => {
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
  const logged = service.logLines.filter((line) => line.includes("a token exchange was rejected"));
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

t.test("a token of an unreachable issuer is refused like any other, and the trust records why", async (t) => {
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
