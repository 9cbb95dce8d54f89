import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { PushOrder } from "../../../../actors/runners/push.js";
import { startCodeHost } from "../../../support/code-host.js";
import { install } from "../../../support/code-host-scene.js";
import { until } from "../../../support/until.js";
import { RunScene } from "../run-scene.js";

/** Tests a run whose changes may be pushed, from the start of its agent to the end of its claim. */

t.test(
  "a run that may be pushed waits after its report, pushes what it is told to, and is gone when dropped",
  async (t) => {
    const host = await startCodeHost(t);
    install(host, 7);
    host.repositories.set(7, ["acme/app"]);
    const app = await host.work.addRepository("acme/app", { "a.txt": "one\n" });
    const scene = await RunScene.start(t, { gitUrl: join(await host.work.folder, "{name}.git") });
    const trap = join(scene.folder, "sprung");
    const agent = `
    echo two > a.txt; mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch ${trap}\\n' > .git/hooks/pre-push
    git config filter.x.clean "touch ${trap}; cat"; git -C "$HOME/../records/acme/app.git" config filter.x.clean "touch ${trap}; cat"
    echo '* filter=x' > .gitattributes`;
    const job = { ...scene.assign({ agent, push: true }) };
    const ended = await scene.message("run.ended");
    t.match(ended, { outcome: "completed", checkouts: [{ repository: "acme/app", diff: /\+two/ }] });
    t.notOk(existsSync(trap), "also reading the changes runs no program of the agent's");
    const claim = { runId: job.runId, fence: job.fence };
    const order = (more: Partial<PushOrder>): PushOrder => ({
      type: "run.push",
      ...claim,
      id: "1",
      repository: "acme/app",
      wish: null,
      title: "Fix it",
      base: "main",
      url: `${host.origin}/acme/app.git`,
      token: null,
      branch: "signalbox/0000abcd-fix",
      ...more,
    });
    scene.service.tell(order({ why: "The code host is down." }));
    t.match(await scene.message("run.push-rejected"), { id: "1", problem: "untokened", why: "The code host is down." });
    const token = host.installationToken(7, { repositories: ["app"], permissions: { contents: "write" } });
    scene.service.tell(order({ id: "2", token }));
    t.match(await scene.message("run.pushed"), { id: "2", changed: [".gitattributes", "a.txt"] });
    t.match(await app.files("signalbox/0000abcd-fix"), { "a.txt": "two" });
    t.ok(existsSync(scene.path("work/runs/run_1-1")), "its folder is kept");
    scene.service.tell({ type: "run.drop", ...claim });
    await until("the run is over", () => scene.said.some((line) => /^run_1: (completed|failed)/.test(line)));
    t.notOk(existsSync(scene.path("work/runs/run_1-1")));
    t.notOk(existsSync(scene.path("work/pushes/run_1-1")));
    t.notMatch(scene.said.join("\n"), token);
    t.notMatch(JSON.stringify(scene.messages("run.step")), token);
  },
);

t.test("a run that is stopped, or whose agent fails, is held too, and one that is not pushed is not", async (t) => {
  const scene = await RunScene.start(t);
  const held = await scene.work({ agent: "exit 1", push: true });
  t.equal(held.outcome, "failed");
  const free = await scene.work({ runId: "run_2", agent: "true" });
  t.equal(free.outcome, "completed");
  scene.service.tell({ type: "run.drop", runId: "run_1", fence: 1 });
  await until("the run is over", () => scene.said.some((line) => /^run_1: (completed|failed)/.test(line)));
});
