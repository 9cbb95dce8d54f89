import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { createDirectoryCatalogue, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { RESERVED_MS } from "../../../actors/resources/hash-reservations.machine.js";
import { rebuildDirectories } from "../../../runtime/directories/rebuild-directories.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { ManualClock } from "../../support/manual-clock.js";
import { createUnder, listItems, remove, replace, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import { startTestService } from "../../support/service.js";

const base = "/api/resources";

t.test("a pull pool's token is returned once, and not at all when the client chose it", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const pools = `${base}/workspaces/${workspaceId}/runner-pools`;
  const issued = await createUnder(owner, pools, { key: "issued" }, "issued");
  t.match(issued.headers["service-pool-token"], /^[A-Za-z0-9_-]{43}$/);
  const again = await createUnder(owner, pools, { key: "issued" }, "issued");
  t.same([again.status, again.headers["service-pool-token"]], [201, undefined]);
  const given = await createUnder(owner, pools, { key: "given", token: "t".repeat(40) }, "given");
  t.same([given.status, given.headers["service-pool-token"]], [201, undefined]);
  t.notMatch(issued.text + given.text, "token");
});

t.test("a token that admits to a pool is no other pool's, of this workspace or of another", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const pools = `${base}/workspaces/${workspaceId}/runner-pools`;
  const issued = await createUnder(owner, pools, { key: "issued" }, "issued");
  const token = issued.headers["service-pool-token"] ?? "";
  // A host's operator knows the pool's token, and can open their own workspace.
  const other = await service.signIn("other@example.com");
  const theirs = await workspaceWithTeam(other, "theirs");
  const elsewhere = `${base}/workspaces/${theirs.workspaceId}/runner-pools`;
  const own = await other.create(elsewhere, { key: "own" });
  for (const taking of [
    createUnder(owner, pools, { key: "second", token }, "second"),
    createUnder(other, elsewhere, { key: "second", token }, "second"),
    replace(other, `${base}/runner-pools/${own.id}`, 1, { key: "own", token }),
  ]) {
    const refused = await taking;
    t.match(toProblem(refused).errors, [{ path: "token", message: "is already used by another pool" }], refused.text);
  }
  await RunnerPeer.join(service, token).then((peer) => peer.cut());
  const listed = await owner.request("GET", "/api/workspaces/acme/runners");
  t.match(listItems(listed), [{ pool: "issued" }], "the host still comes where it belongs");

  const one = `${base}/runner-pools/${issued.body?.id}`;
  const same = await replace(owner, one, 1, { key: "issued", token });
  t.same([same.status, same.body?.version], [200, 1], "its own token again is no change");
  t.equal((await replace(owner, one, 1, { key: "issued", token: "n".repeat(43) })).status, 200);
  t.equal(
    (await createUnder(owner, pools, { key: "second", token }, "second")).status,
    201,
    "one that was replaced is free",
  );
  await RunnerPeer.join(service, token).then((peer) => peer.cut());
});

t.test("the token of a closed workspace's pool is free, and leads to its new pool after a rebuild too", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-pools-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = new ManualClock();
  const service = await startTestService(t, { folder, clock });
  const owner = await service.signIn("owner@example.com");
  const token = "t".repeat(43);
  // Create the workspace that is deleted below last, so that its id is the last in order.
  const { workspaceId } = await workspaceWithTeam(owner);
  clock.advance(1_000);
  const closed = await workspaceWithTeam(owner, "closed");
  await owner.create(`${base}/workspaces/${closed.workspaceId}/runner-pools`, { key: "old", token });
  t.equal((await remove(owner, `${base}/workspaces/${closed.workspaceId}`, 1)).status, 204);
  clock.advance(RESERVED_MS);
  await owner.create(`${base}/workspaces/${workspaceId}/runner-pools`, { key: "new", token });
  await service.stop();

  const store = await openLmdbStore({ folder });
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  await rebuildDirectories(store, createDirectoryCatalogue(kinds));
  await store.close();
  const again = await startTestService(t, { folder, clock });
  await RunnerPeer.join(again, token).then((peer) => peer.cut());
});

t.test("a push pool needs a listed address and a secret, and warns of no effect yet", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "push.example.com" } });
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const held = `${base}/workspaces/${workspaceId}`;
  const secret = await owner.create(`${held}/secrets`, {
    name: "push",
    value: "v",
    valueVersion: 1,
    hosts: ["other.example.com"],
  });
  const push = { url: "https://push.example.com/work", secret: "push" };
  const wrong: readonly [body: object, path: string][] = [
    [{ kind: "push" }, "push"],
    [{ kind: "pull", push }, "push"],
    [{ kind: "push", push, token: "t".repeat(40) }, "token"],
    [{ kind: "push", push: { ...push, url: "https://elsewhere.example.com/" } }, "push.url"],
    [{ kind: "push", push: { ...push, url: "nowhere" } }, "push.url"],
    [{ kind: "push", push: { ...push, secret: "none" } }, "push.secret"],
  ];
  for (const [index, [body, path]] of wrong.entries()) {
    const answer = await createUnder(owner, `${held}/runner-pools`, { key: "pushed", ...body }, `wrong-${index}`);
    t.same([answer.status, toProblem(answer).errors?.map((error) => error.path)], [422, [path]], answer.text);
  }
  const made = await createUnder(owner, `${held}/runner-pools`, { key: "pushed", kind: "push", push }, "right");
  t.equal(made.status, 201, made.text);
  t.equal(made.headers["service-pool-token"], undefined);
  t.same(made.body?.push, push);
  const warnings = made.body?.warnings as { path: string; message: string }[];
  t.same(
    warnings.map(({ path }) => path),
    ["push", "push.secret"],
  );
  t.match(warnings[1]?.message, /not sent to push.example.com/);

  const kept = await remove(owner, `${base}/secrets/${secret.id}`, 1);
  t.same([kept.status, toProblem(kept).detail], [409, "The secret push is used by runner-pool pushed."]);
  const bound = { name: "push", valueVersion: 1, hosts: ["*.example.com"] };
  t.equal((await replace(owner, `${base}/secrets/${secret.id}`, 1, bound)).status, 200);
  const read = await owner.request("GET", `${base}/runner-pools/${made.body?.id}`);
  t.match(read.body?.warnings, [{ path: "push" }], "the secret is bound to the host now");
});
