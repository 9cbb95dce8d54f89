import t from "tap";
import { createUnder, remove, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const base = "/api/resources";

t.test("a workspace has one workspace-runners, at its slug, whose pool and bound queued runs wait for", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const held = `${base}/workspaces/${workspaceId}`;
  const pool = await ada.create(`${held}/runner-pools`, { key: "main" });
  const made = await ada.create(`${held}/workspace-runners`, { defaultPool: "main" });
  t.same([made.address, made.maxConcurrentRuns, made.replaySlotsPercent], ["acme", null, null]);
  const again = await createUnder(ada, `${held}/workspace-runners`, { maxConcurrentRuns: 1 }, "second");
  t.same([again.status, toSlug(again)], [409, "already-exists"]);
  t.equal((await ada.request("GET", `${held}/workspace-runners/import?address=acme`)).body?.id, made.id);
  const { items } = (await ada.request("GET", `${held}/workspace-runners`)).body as { items: unknown[] };
  t.equal(items.length, 1);

  await ada.create(`${base}/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  const task = await ada.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
  const waiting = async () => {
    const { items: runs } = (await ada.request("GET", `/api/tasks/${task.body?.id}/runs`)).body as { items: unknown[] };
    return (runs[0] as { waiting: { reason: string } }).waiting.reason;
  };
  t.match(await waiting(), "No runner of pool main is connected.");
  const used = await remove(ada, `${base}/runner-pools/${pool.id}`, 1);
  t.match(toProblem(used).detail, "The runner-pool main is used by workspace-runners acme.");
  t.equal((await replace(ada, `${base}/workspace-runners/${made.id}`, 1, {})).status, 200);
  t.match(await waiting(), "No runner of the workspace is connected.");
});
