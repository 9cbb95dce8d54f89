import t from "tap";
import { address } from "../../runtime/cells/address.js";
import type { Message } from "../../runtime/turns/turn.js";
import { workspaceWithTeam } from "../support/resources.js";
import { startTestService } from "../support/service.js";
import { until } from "../support/until.js";

t.test(
  "a message that kept crashing its actor is listed, and sent again on demand, for those who administer",
  async (t) => {
    const service = await startTestService(t);
    const owner = await service.signIn("ada@example.com");
    const stranger = await service.signIn("eve@example.com");
    const { workspaceId } = await workspaceWithTeam(owner);
    const path = "/api/workspaces/acme/dead-letters";
    t.same((await owner.request("GET", path)).body, { items: [] });

    // A run whose labels are not a list crashes the dispatcher when the dispatcher compares the run with a runner.
    const pools = `/api/resources/workspaces/${workspaceId}/runner-pools`;
    const { id: poolId } = await owner.create(pools, { key: "main" });
    const runner = { runnerId: "r", poolId, name: "", labels: [], harnesses: [], slots: 1, connected: true, since: "" };
    const { runtime } = service;
    await runtime.ask(address(workspaceId, "dispatcher", workspaceId), { type: "runner.offer", runner } as Message);
    const start = {
      type: "run.start",
      owner: { kind: "task", id: "task_1" },
      ownerAddress: address(workspaceId, "task", "task_1"),
      config: { skills: [] },
      beginning: { line: {}, station: { passesTo: [], next: [] }, checkouts: [] },
      needs: { poolId: null, harness: "command", labels: "none" },
    } as unknown as Message;
    await runtime.ask(address(workspaceId, "run", "run_1"), start);
    const listed = async () => ((await owner.request("GET", path)).body?.items ?? []) as readonly { id: string }[];
    const first = await until("a dead letter", async () => (await listed())[0]);
    t.match(first, { to: `dispatcher/${workspaceId}`, message: "run.queue", error: /./ });
    t.equal((await owner.request("POST", `${path}/${first.id}/retry`, {})).status, 202);
    const second = await until("another dead letter", async () => (await listed()).find(({ id }) => id !== first.id));
    t.match(second, { message: "run.queue" }, "its cause is still there, so it is set aside again");

    t.equal((await stranger.request("GET", path)).status, 404);
    t.equal((await owner.request("POST", `${path}/nothing/retry`, {})).status, 404);
    t.equal((await service.anonymous.request("GET", path)).status, 401);
  },
);
