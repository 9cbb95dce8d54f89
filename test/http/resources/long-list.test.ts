import t from "tap";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

t.test("a list of several pages' worth holds everything once, in address order", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const secrets = `/api/resources/workspaces/${workspaceId}/secrets`;
  const names = Array.from({ length: 401 }, (_, n) => `secret-${(n * 7) % 401}`);
  const create = (name: string) => owner.create(secrets, { name, value: "v", valueVersion: 1 });
  const listed = async () => listItems(await owner.request("GET", secrets)).map(({ address }) => address);
  await Promise.all(names.slice(1).map(create));
  t.same(await listed(), names.slice(1).sort(), "exactly two pages");
  await create(names[0] ?? "");
  t.same(await listed(), [...names].sort(), "and one more");
});
