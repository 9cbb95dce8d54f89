import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type Claims, type IssuerKey, makeKeys, startIssuer } from "../../support/issuer.js";
import { ManualClock } from "../../support/manual-clock.js";
import { join as joinAs } from "../../support/people.js";
import { createUnder, remove, replace, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService, type TestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openShop } from "../../support/token-shop.js";

const es256: readonly IssuerKey[] = await makeKeys(["ES256"]);

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

t.test("a trust stays valid when the person who defined it is demoted or leaves", async (t) => {
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

t.test("a minted token defines trusts only with its own scopes, for the person who defined its trust", async (t) => {
  const { workspaceId, minted, body } = await openShop(t, { terms: { scopes: ["read", "trusts"] } });
  const ci = await minted();
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const more = await createUnder(ci, trusts, { ...body, key: "more", scopes: ["configure"] }, "k1");
  t.same([more.status, toProblem(more).permission], [403, "manage-token-trusts"]);
  const same = await createUnder(ci, trusts, { ...body, key: "same" }, "k2");
  t.equal(same.status, 201, same.text);
  const own = await ci.request("GET", trusts);
  const [first, second] = (own.body as { readonly items: readonly Record<string, unknown>[] }).items;
  t.equal(second?.definedBy, first?.definedBy);
});

t.test("expired credentials are removed from the store some time after their end", async (t) => {
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
    // Work that is due is committed in the same batches as writes. So after some writes, all work that was due before
    // is done.
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

t.test("minted credentials and refusals are there after a restart", async (t) => {
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
