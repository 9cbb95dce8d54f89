import t, { type Test } from "tap";
import { type Claims, type IssuerKey, makeKeys, startIssuer } from "../../support/issuer.js";
import { ManualClock } from "../../support/manual-clock.js";
import { bearer, createUnder, remove, replace, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import { startTestService } from "../../support/service.js";
import { openWorkplace } from "../../support/workplace.js";

const keys: readonly IssuerKey[] = await makeKeys(["ES256"]);
const HOUR_MS = 60 * 60_000;

/**
 * Opens a workspace with a runner trust, which lets an issuer's hosts join two pools. Returns functions that act as a
 * host.
 */
async function openYard(t: Test) {
  const issuer = await startIssuer(t, keys);
  const clock = new ManualClock();
  const service = await startTestService(t, { clock, settings: { OUTBOUND_ALLOW: issuer.url } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const within = `/api/resources/workspaces/${workspaceId}`;
  for (const key of ["fast", "slow", "other"]) await ada.create(`${within}/runner-pools`, { key });
  const body = { key: "hosts", issuer: issuer.url, subject: "host/*", audience: "runners", pools: ["slow", "fast"] };
  const trust = await ada.create(`${within}/runner-trusts`, body);
  const exchange = async (claims: Claims = {}) =>
    service.anonymous.request("POST", "/api/runner-trusts/exchange", {
      trust: trust.id,
      token: await issuer.token({ sub: "host/7", aud: "runners", ...claims }, { nowMs: clock.now() }),
    });
  const tokens = async () => {
    const reply = await exchange();
    if (reply.status !== 200) throw new Error(reply.text);
    const { pools } = reply.body as { readonly pools: readonly { readonly token: string }[] };
    return pools.map(({ token }) => token);
  };
  const join = async (token = ""): Promise<RunnerPeer> => {
    const peer = await RunnerPeer.join(service, token);
    t.teardown(async () => peer.cut());
    return peer;
  };
  return { issuer, clock, service, ada, workspaceId, within, body, trust, exchange, tokens, join };
}

t.test("a host exchanges its token for admission to the pools of the trust, and no other", async (t) => {
  const { clock, ada, workspaceId, exchange, join } = await openYard(t);
  const reply = await exchange();
  t.equal(reply.status, 200, reply.text);
  const { pools } = reply.body as { readonly pools: readonly { readonly pool: string; readonly token: string }[] };
  const expiresAt = new Date(clock.now() + HOUR_MS).toISOString();
  t.match(reply.body, { workspaceId, pools: [{ pool: "slow" }, { pool: "fast" }], expiresAt });
  for (const { pool, token } of pools) {
    await join(token);
    const listed = await ada.request("GET", "/api/workspaces/acme/runners");
    t.match(listed.text, new RegExp(`"pool":"${pool}"`));
  }
});

t.test(
  "a host's token that was refused as expired stays so when the clock is set back, and others do not",
  async (t) => {
    const { clock, tokens, join, ada } = await openYard(t);
    await tokens();
    clock.advance(30_000);
    const [refused, unused] = await tokens();
    // The first tokens expire now, and the service removes them. The second tokens expire before the next sweep, which
    // is a minute later.
    clock.advance(HOUR_MS - 30_000);
    await ada.request("POST", "/api/sign-in", { email: "settled@x.example" });
    clock.advance(30_000);
    await t.rejects(join(refused), /401/);
    clock.setBack(60_000);
    await t.rejects(join(refused), /401/);
    await join(unused);
  },
);

t.test("a host that the trust does not admit is refused as every exchange is, and the trust knows why", async (t) => {
  const { service, ada, workspaceId, trust, exchange } = await openYard(t);
  const replies = [
    await exchange({ sub: "workload/7" }),
    await exchange({ aud: "service" }),
    await exchange({ exp: 1 }),
  ];
  const unknown = await service.anonymous.request("POST", "/api/runner-trusts/exchange", { trust: "x", token: "y" });
  for (const reply of replies) t.same([reply.status, reply.text], [401, unknown.text]);
  const path = `/api/resources/runner-trusts/${trust.id}/refusals`;
  t.match((await ada.request("GET", path)).body, {
    items: [
      { check: "exp" },
      { check: "aud", wanted: "runners" },
      { check: "sub", wanted: "host/*", came: "workload/7" },
    ],
  });
  const trusts = await bearer(service, ada, { workspaceId, name: "trusts", scopes: ["read", "trusts"] });
  t.match((await trusts.request("GET", path)).body, { status: 403, permission: "manage-runners" });
});

t.test("tokens minted for pools are valid for pools only, and other tokens not for pools", async (t) => {
  const { service, ada, issuer, clock, within, trust, tokens } = await openYard(t);
  const [token = ""] = await tokens();
  t.equal((await service.withToken(token).request("GET", within)).status, 401);
  const terms = { issuer: issuer.url, audience: "runners", subject: "host/*", scopes: ["runners", "read"] };
  const tokenTrust = await ada.create(`${within}/token-trusts`, { key: "hosts", ...terms });
  const workload = await issuer.token({ sub: "host/7", aud: "runners" }, { nowMs: clock.now() });
  const ask = (path: string, id: string) => service.anonymous.request("POST", path, { trust: id, token: workload });
  t.equal((await ask("/api/runner-trusts/exchange", tokenTrust.id)).status, 401, "each trust at its own exchange");
  t.equal((await ask("/api/workspace-tokens/exchange", trust.id)).status, 401);
  const minted = await ask("/api/workspace-tokens/exchange", tokenTrust.id);
  t.equal(minted.status, 200);
  await t.rejects(RunnerPeer.connect(service, String(minted.body?.token)), /401/);
  const taken = await createUnder(ada, `${within}/runner-pools`, { key: "mine", token }, "mine");
  t.match(toProblem(taken).errors, [{ path: "token" }], "what was minted for a pool is no other pool's own");
});

t.test("an open connection ends with the hour, a change of the trust, its delete, or the workspace", async (t) => {
  const { clock, ada, workspaceId, within, body, trust, tokens, join } = await openYard(t);
  const one = `/api/resources/runner-trusts/${trust.id}`;
  const isCut = async (peer: RunnerPeer, what: string) => t.equal((await peer.closed()).code, 4_401, what);

  const [first] = await tokens();
  const lasting = await join(first);
  clock.advance(HOUR_MS - 1);
  await lasting.beat();
  clock.advance(5_000);
  await isCut(lasting, "its end");
  await t.rejects(join(first), /401/);

  const [second] = await tokens();
  const changed = await join(second);
  t.equal((await replace(ada, one, 1, { ...body, pools: ["slow", "other"] })).status, 200);
  clock.advance(5_000);
  await isCut(changed, "a change");

  const [third] = await tokens();
  const deleted = await join(third);
  t.equal((await remove(ada, one, 2)).status, 204);
  clock.advance(5_000);
  await isCut(deleted, "a delete");

  const made = await ada.request("POST", `${within}/runner-pools`, { key: "own" }, { "idempotency-key": "own" });
  const own = await join(made.headers["service-pool-token"]);
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  clock.advance(5_000);
  await isCut(own, "a closed workspace");
});

t.test("a runner is given no job under a token that was replaced since", async (t) => {
  const { service, ada, poolId, token, runner, open } = await openWorkplace(t);
  const peer = await runner();
  const pool = { key: "main", token: "x".repeat(40) };
  t.equal((await replace(ada, `/api/resources/runner-pools/${poolId}`, 1, pool)).status, 200);
  await open();
  t.equal((await peer.closed()).code, 4_401);
  t.notOk(
    peer.frames.some((frame) => frame.frame === "message"),
    "the job stayed here",
  );
  await t.rejects(RunnerPeer.connect(service, token), /401/);
  const next = await RunnerPeer.join(service, pool.token);
  t.teardown(async () => next.cut());
});

t.test("a connection ends with its pool's token, also where that is another pool's from then on", async (t) => {
  const clock = new ManualClock();
  const { service, ada, poolId, token, runner } = await openWorkplace(t, { clock });
  const peer = await runner();
  // The operator of the rejected host knows the host's token, and may use this token for a pool of their own.
  const mallory = await service.signIn("mallory@example.com");
  const theirs = await workspaceWithTeam(mallory, "theirs");
  const pool = { key: "main", token: "x".repeat(40) };
  t.equal((await replace(ada, `/api/resources/runner-pools/${poolId}`, 1, pool)).status, 200);
  await mallory.create(`/api/resources/workspaces/${theirs.workspaceId}/runner-pools`, { key: "own", token });
  clock.advance(5_000);
  t.equal((await peer.closed()).code, 4_401);
});
