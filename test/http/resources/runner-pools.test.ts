import t from "tap";
import { createUnder, problemOf, remove, replace, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const base = "/api/resources";

t.test("a pull pool's token is told once, and not at all when it was given", async (t) => {
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

t.test("a push pool has an address on the allow-list and a secret, and says that nothing is pushed yet", async (t) => {
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
    t.same([answer.status, problemOf(answer).errors?.map((error) => error.path)], [422, [path]], answer.text);
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
  t.same([kept.status, problemOf(kept).detail], [409, "The secret push is used by runner-pool pushed."]);
  const bound = { name: "push", valueVersion: 1, hosts: ["*.example.com"] };
  t.equal((await replace(owner, `${base}/secrets/${secret.id}`, 1, bound)).status, 200);
  const read = await owner.request("GET", `${base}/runner-pools/${made.body?.id}`);
  t.match(read.body?.warnings, [{ path: "push" }], "the secret is bound to the host now");
});
