import t from "tap";
import { createUnder, remove, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const body = { key: "hosts", issuer: "https://hosts.example.com", subject: "host-1" };

t.test("a runner trust and its pools refer to each other", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const within = `/api/resources/workspaces/${workspaceId}`;
  const trusts = `${within}/runner-trusts`;
  const none = await createUnder(ada, trusts, { ...body, pools: [] }, "k1");
  t.match(toProblem(none).errors, [{ path: "pools", message: "must name at least one pool" }]);
  const dangling = await createUnder(ada, trusts, { ...body, pools: ["fast"] }, "k2");
  t.match(toProblem(dangling).errors, [{ path: "pools[0]", message: /no runner-pool fast/ }]);
  const pool = await ada.create(`${within}/runner-pools`, { key: "fast" });
  await ada.create(`${within}/runner-pools`, { key: "slow" });
  const twice = await createUnder(ada, trusts, { ...body, pools: ["fast", "fast"] }, "k3");
  t.match(toProblem(twice).errors, [{ path: "pools", message: "must name each pool once" }]);
  const odd = await createUnder(ada, trusts, { ...body, pools: ["fast"], claims: { iss: "x" }, subject: "*" }, "k4");
  t.same(
    toProblem(odd)
      .errors?.map(({ path }) => path)
      .sort(),
    ["claims.iss", "subject"],
  );

  const trust = await ada.create(trusts, { ...body, pools: ["slow", "fast"] });
  const onePool = `/api/resources/runner-pools/${pool.id}`;
  const used = await remove(ada, onePool, 1);
  t.same([used.status, toSlug(used)], [409, "in-use"]);
  t.match(toProblem(used).detail, /runner-trust hosts/);
  t.equal(
    (await replace(ada, `/api/resources/runner-trusts/${trust.id}`, 1, { ...body, pools: ["slow"] })).status,
    200,
  );
  t.equal((await remove(ada, onePool, 1)).status, 204);
});
