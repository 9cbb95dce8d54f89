import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openDevScene, openTask, readDiff, startDev, untilTaskIs } from "../../../support/dev-scene.js";
import { inRepository } from "../../../support/repository.js";
import { until } from "../../../support/until.js";

t.test("the line: each station passes to the next, and a review may send back", async (t) => {
  const dev = await openDevScene(t).start("--stations", "plan,work,review");
  const [workspace] = (await dev.client.get("/api/resources/workspaces")).items;
  const path = { workspaceId: workspace?.id ?? "" };
  const { items } = await dev.client.get("/api/resources/workspaces/{workspaceId}/lines", { path });
  t.match(items, [
    {
      key: "main",
      repositories: [{ name: "local/project" }],
      stations: [
        { key: "plan", kind: "work", passesTo: ["work"], runners: { pool: "main" } },
        { key: "work", kind: "work", passesTo: ["review"] },
        { key: "review", kind: "review", passesTo: ["work"] },
      ],
    },
  ]);
});

/** An agent that creates `began` in the folder `GATE`, and ends when `open` exists there. */
const WAITING_AGENT = `#!/usr/bin/env node
import { existsSync, watch, writeFileSync } from "node:fs";
const folder = process.env.GATE;
writeFileSync(folder + "/began", "");
writeFileSync("worked.txt", process.env.SIGNALBOX_STATION + "\\n");
const end = () => existsSync(folder + "/open") && process.exit(0);
watch(folder, end);
end();
`;

t.test("Ctrl+C lets the active run end; a program of this folder is the agent, with passed variables", async (t) => {
  const scene = openDevScene(t);
  const { repository } = scene;
  const gate = join(repository, "..");
  writeFileSync(join(repository, "agent.mjs"), WAITING_AGENT, { mode: 0o755 });
  process.env.GATE = gate;
  t.teardown(() => delete process.env.GATE);
  const dev = await scene.start("--stations", "work", "--pass-env", "GATE", "--command", "./agent.mjs");
  t.match(dev.lines[1], `agent    ${join(repository, "agent.mjs")}`);
  const taskId = await openTask(dev, "Wait");
  await until("the agent has begun", () => existsSync(join(gate, "began")));
  dev.interrupt();
  writeFileSync(join(gate, "open"), "");
  t.equal((await dev.end()).code, 0);
  const again = await scene.start();
  t.match(again.lines[1], /^agent +built-in example agent/);
  t.match(await untilTaskIs(again, taskId, "done"), { state: "done" });
  t.match(await readDiff(again, taskId), "+work");
  t.match((await again.end()).err, `last time with --command: ${join(repository, "agent.mjs")}`);
});

t.test("agents start from the branch that is checked out now, also in a linked worktree", async (t) => {
  const { repository, signalbox } = openDevScene(t);
  const worktree = join(repository, "../worktree");
  inRepository(repository, "worktree", "add", "--quiet", "-b", "side", worktree);
  writeFileSync(join(worktree, "side.txt"), "Checked on the side\n");
  inRepository(worktree, "add", ".");
  inRepository(worktree, "commit", "--quiet", "-m", "Side");
  const dev = await startDev(t, { signalbox, repository: worktree }, ["--stations", "work"]);
  t.equal(inRepository(worktree, "status", "--porcelain"), "");
  t.equal(inRepository(repository, "status", "--porcelain"), "");
  const side = await openTask(dev, "Side");
  await untilTaskIs(dev, side, "done");
  t.match(await readDiff(dev, side), "- `side.txt`");
  inRepository(worktree, "switch", "--quiet", "-c", "other", "main");
  const other = await openTask(dev, "Side again");
  await untilTaskIs(dev, other, "done");
  t.notMatch(await readDiff(dev, other), "side.txt");
});
