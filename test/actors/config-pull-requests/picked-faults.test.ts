import t, { type Test } from "tap";
import type { HostedFault } from "../../../http/demo/code-host/code-host.js";
import { adaThere, bobThere } from "../../support/code-host-scene.js";
import { openPickedHost, PickedWorld } from "../../support/picked-world.js";

const HOUR_MS = 60 * 60 * 1_000;

async function open(t: Test) {
  const host = await openPickedHost(t);
  const world = await PickedWorld.open(host);
  const fail = (on: RegExp, fault: HostedFault, times = 1) => {
    for (let n = 0; n < times; n += 1) host.peer.onceFaults.push({ on, fault });
  };
  return { host, world, fail, peer: host.peer, infra: world.infra };
}

t.test("it is one commit on top of the head, and says what and why, without what a reader may not know", async (t) => {
  const { world, infra } = await open(t);
  const row = await world.pick("1");
  const { pulls } = await world.there();
  const head = await infra.head(row.branch);
  t.same(await infra.commits("main", head ?? ""), [head]);
  t.same(await infra.changed("main", head ?? ""), [{ status: "M", path: "lines/dev.tf" }]);
  const title = "Config of station work of line dev: careful";
  t.match(pulls, [{ title, head: row.branch, base: "main", draft: false, state: "open" }]);
  t.match(pulls[0]?.body, /\| harness \| changed \| command \| claude \|/);
  t.match(pulls[0]?.body, /https:\/\/here\.example\/api\/teams\/team_1\/searches\/srch_1/);
  t.match(await infra.git("show", "--no-patch", "--format=%B", head ?? ""), new RegExp(`^${title}\n`));
});

t.test("an answer that is lost is none: what was done is found", async (t) => {
  for (const on of [/POST .*\/git\/refs$/, /POST .*\/pulls$/, /POST .*\/git\/commits$/, /POST .*\/git\/trees$/]) {
    const { world, fail } = await open(t);
    fail(on, "lose", 2);
    t.match(await world.pick("1"), { state: "opened", attempts: 1 }, String(on));
    t.match(await world.there(), { branches: { length: 1 }, pulls: { length: 1 } });
  }
});

t.test("a limit is waited for as long as it says, and then it is opened", async (t) => {
  for (const on of [/GET .*\/contents\//, /POST .*\/git\/blobs$/, /POST .*\/pulls$/]) {
    const { world, fail } = await open(t);
    const begunMs = world.harness.world.clock.now();
    const resetS = Math.floor((begunMs + HOUR_MS / 2) / 1_000);
    fail(on, { status: 403, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetS) } });
    const waits: (string | null | undefined)[] = [];
    world.onRound = () => void waits.push(world.row?.waitsUntil);
    t.match(await world.pick("1"), { state: "opened", waitsUntil: null });
    t.ok(waits.includes(new Date(resetS * 1_000).toISOString()), "it says until when");
    t.ok(world.harness.world.clock.now() >= resetS * 1_000);
  }
});

t.test(
  "no write access, a guarded branch and an archived repository are refused in the code host's words",
  async (t) => {
    const { world, peer, infra } = await open(t);
    infra.protectedRefs = /config/;
    const message = /acme-inc\/infra-1: .*creations being restricted/;
    t.match(await world.pick("1"), { state: "refused", reason: { code: "no-access", message } });
    infra.protectedRefs = null;
    infra.isArchived = true;
    t.match(await world.pick("2"), { reason: { code: "no-access", message: /archived/ }, attempts: 2 });
    infra.isArchived = false;
    const installation = peer.installations.get(7);
    if (installation === undefined) throw new Error("there is no installation");
    peer.installations.set(7, { ...installation, permissions: { metadata: "read", contents: "read" } });
    await world.harness.advance(2 * HOUR_MS);
    t.match(await world.pick("3"), { reason: { code: "no-access", message: /403.*not accessible/ } });
    peer.installations.delete(7);
    await world.harness.advance(2 * HOUR_MS);
    t.match(await world.pick("4"), { reason: { code: "no-access", message: /404/ } }, "the app was removed");
    t.same(await world.there(), { branches: [], pulls: [] });
    peer.installations.set(7, installation);
    await world.harness.advance(2 * HOUR_MS);
    t.match(await world.pick("5"), { state: "opened", attempts: 5, reason: null });
  },
);

t.test("a repository or a file that is gone, and a host that never answers", async (t) => {
  const { world, peer, infra, fail } = await open(t);
  peer.work.repositories.delete(infra.name);
  t.match(await world.pick("1"), { reason: { code: "not-found", message: /^acme-inc\/infra-1 does not exist/ } });
  peer.work.repositories.set(infra.name, infra);
  await infra.commit({ branch: "main", files: { "lines/dev.tf": null } });
  t.match(await world.pick("2"), { reason: { code: "not-found", message: /dev\.tf/ } });
  await infra.commit({ branch: "main", files: { "lines/dev.tf": 'harness = "command"\n' } });
  fail(/GET .*\/git\/ref\/heads\/main$/, { status: 502 }, 8);
  t.match(await world.pick("3"), {
    reason: { code: "no-connection", message: /502.* Pick the candidate again later/ },
  });
  t.match(await world.pick("4"), { state: "opened" });
});

t.test(
  "a branch of somebody else is never touched; its own is gone on with, on top of the source of then",
  async (t) => {
    const { world, peer, infra, fail } = await open(t);
    const forbidden: HostedFault = { status: 403, body: '{"message":"Resource not accessible by integration"}' };
    fail(/POST .*\/pulls$/, forbidden);
    const { branch } = await world.pick("1");
    const first = await infra.head(branch);
    fail(/POST .*\/pulls$/, forbidden);
    t.match(await world.pick("2"), { branch, reason: { code: "no-access" } });
    t.equal(await infra.head(branch), first, "the same commit is not made twice");

    await infra.commit({ branch: "main", files: { "lines/dev.tf": 'new = 1\nharness = "command"\n' } });
    fail(/POST .*\/pulls$/, forbidden);
    await world.pick("3");
    const second = (await infra.head(branch)) ?? "";
    t.equal((await infra.read(second, "lines/dev.tf")).toString(), 'new = 1\nharness = "claude"\n');
    t.equal(await infra.git("rev-parse", `${second}^1`), await infra.head("main"), "on top of what was read");
    t.equal(await infra.git("rev-parse", `${second}^2`), first, "and of what it was, so that nothing is forced");

    const theirs = await peer.work.push(infra, { branch, files: { "x.tf": "x" }, by: bobThere });
    t.match(await world.pick("4"), { reason: { code: "branch-taken", message: /someone else/ } });
    t.equal(await infra.head(branch), theirs);
    await infra.git("update-ref", "-d", `refs/heads/${branch}`);
    t.match(await world.pick("5"), { state: "opened", attempts: 5 });
    t.match(await world.there(), { branches: [branch], pulls: { length: 1 } });
  },
);

t.test(
  "what happens there between two steps: a branch that somebody else makes, commits on top, a pull request",
  async (t) => {
    const { world, peer, infra, fail } = await open(t);
    const made = peer.asking(/POST .*\/git\/commits$/).then(async () => {
      const { branch = "" } = world.row ?? {};
      await infra.commit({ branch, files: { "y.tf": "y" } });
    });
    fail(/POST .*\/git\/commits$/, { after: made });
    t.match(await world.pick("1"), { reason: { code: "branch-taken" } });
    await infra.git("update-ref", "-d", `refs/heads/${world.row?.branch}`);

    const on = /POST .*\/pulls$/;
    const asked = peer.asked.filter((name) => on.test(name)).length;
    const opened = peer.asking(on, asked + 1).then(async () => {
      const { branch = "" } = world.row ?? {};
      await peer.work.push(infra, { branch, files: { "z.tf": "z" }, by: adaThere });
      await peer.work.open(infra, { title: "Theirs", head: branch, base: "main", by: adaThere });
    });
    fail(on, { after: opened });
    t.match(await world.pick("2"), { state: "opened" });
    t.match(await world.there(), { pulls: { length: 1 } }, "it is adopted");
  },
);
