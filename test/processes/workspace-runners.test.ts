import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { createUnder, itemsOf, replace, workspaceWithTeam } from "../support/resources.js";
import { startTestService } from "../support/service.js";
import { until } from "../support/until.js";
import { RunnerProcess } from "./runner-process.js";

const base = "/api/resources";

t.test("a workspace runs no more at once than it allows, and more as soon as it allows more", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const held = `${base}/workspaces/${workspaceId}`;
  const pool = await createUnder(ada, `${held}/runner-pools`, { key: "main" }, "pool");
  const rules = await ada.create(`${held}/workspace-runners`, { defaultPool: "main", maxConcurrentRuns: 1 });
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await ada.create(`${base}/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations });

  const folder = mkdtempSync(join(tmpdir(), "signalbox-bound-"));
  const gate = join(folder, "gate");
  writeFileSync(join(folder, "agent.sh"), `while [ ! -f ${gate} ]; do sleep 0.05; done\n`);
  const runner = new RunnerProcess({
    ...{ url: service.baseUrl, token: pool.headers["service-pool-token"] ?? "", workFolder: join(folder, "work") },
    ...{ gitUrl: join(folder, "{name}"), more: ["--slots", "4"] },
    command: ["sh", join(folder, "agent.sh")],
  });
  t.teardown(async () => {
    await runner.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  const tasks: string[] = [];
  for (const title of ["One", "Two", "Three"]) {
    const opened = await ada.request("POST", `/api/teams/${teamId}/tasks`, { title, line: "dev" });
    tasks.push(String(opened.body?.id));
  }
  const runs = async () =>
    Promise.all(tasks.map(async (id) => itemsOf(await ada.request("GET", `/api/tasks/${id}/runs`))[0]));
  const states = async () => (await runs()).map((run) => run?.state);
  await until("a run under way", async () => (await states()).includes("running"));
  t.same(await states(), ["running", "queued", "queued"]);
  t.match((await runs())[1]?.waiting, { reason: "The workspace allows no more than 1 runs at once." });

  const more = { defaultPool: "main", maxConcurrentRuns: 2 };
  t.equal((await replace(ada, `${base}/workspace-runners/${rules.id}`, 1, more)).status, 200);
  await until("the second run under way", async () => (await states())[1] === "running");
  t.same(await states(), ["running", "running", "queued"]);
  writeFileSync(gate, "");
  await until("every run's end", async () => (await states()).every((state) => state === "ended"));
  t.same(new Set((await runs()).map((run) => run?.outcome)), new Set(["completed"]));
});
