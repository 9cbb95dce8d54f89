import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createClient } from "../../../../http/client/entry.js";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import {
  openDevScene,
  openTask,
  ownFolder,
  readDiff,
  readLogin,
  statusOf,
  untilTaskIs,
} from "../../../support/dev-scene.js";
import { inRepository } from "../../../support/repository.js";
import { devCases, removeProject } from "./dev-cases.js";

t.test("the commands that start everything", async (t) => {
  t.teardown(removeProject);
  await testCommands(t, await openCommandScene(t), devCases);
});

t.test("a new repository: a task is done, a question is answered, and the diff applies", async (t) => {
  const scene = openDevScene(t, { "a.txt": "the tests fail\n" });
  const { repository, run } = scene;
  writeFileSync(join(repository, "new.txt"), "not committed\n");
  const dev = await scene.start();
  t.equal(dev.lines.length, 4);
  t.equal(statSync(join(ownFolder(scene), "login.json")).mode & 0o777, 0o600);
  t.equal(statSync(join(repository, ".signalbox")).mode & 0o777, 0o700);
  t.equal(inRepository(repository, "status", "--porcelain"), "?? new.txt\n", "git ignores .signalbox");
  t.match(await run(["whoami"]), { code: 0, out: /person +Ada Lovelace <ada@example\.com>\nworkspaces +local/ });
  const link = /http:\S+\/sign-in\/([\w-]+)/.exec(dev.lines[0] ?? "")?.[1] ?? "";
  const exchange = () => createClient({ baseUrl: dev.url }).send("post", "/api/sessions", { body: { token: link } });
  t.equal((await exchange()).status, 204);
  t.equal(await statusOf(exchange()), 401, "the link works once");

  const first = await openTask(dev, "The tests fail");
  t.match(await untilTaskIs(dev, first, "done"), { station: "review" });
  const diff = await readDiff(dev, first);
  inRepository(repository, "apply", "--3way", "--index", diffFile(repository, diff));
  const note = readFileSync(join(repository, "signalbox-notes/the-tests-fail.md"), "utf8");
  t.match(note, /^# The tests fail\n/);
  t.match(note, "built-in example agent");
  t.match(note, "- `a.txt`", "it searched the repository");
  t.equal(diff.match(/^diff --git/gm)?.length, 1, "nothing else is changed");

  const second = await openTask(dev, "Which one fails?");
  t.match(await untilTaskIs(dev, second, "inbox"), { asks: /Which one fails\?/ });
  const path = { taskId: second };
  await dev.client.post("/api/tasks/{taskId}/answer", { path, body: { text: "The second one" } });
  await untilTaskIs(dev, second, "done");
  t.match(await readDiff(dev, second), "+> The second one");

  const { code, err } = await dev.end();
  t.equal(code, 0);
  t.match(err, /warning: 1 file has uncommitted changes: agents start from the last commit of main/);
  t.match(err, /draining/);
  const again = await scene.start("--stations", "work");
  t.equal(readLogin(scene).url, again.url);
  t.match(await again.client.get("/api/tasks/{taskId}", { path: { taskId: second } }), { state: "done" });
  t.equal(again.teamId, dev.teamId);
  const third = await openTask(again, "Once more");
  await untilTaskIs(again, third, "done");
  t.match((await again.end()).err, /--stations has no effect: the line main already has the stations work, review;/);
  const log = join(repository, ".signalbox/dev.log");
  t.match(readFileSync(log, "utf8"), /"runner: /);
  t.equal(statSync(log).mode & 0o777, 0o600);
});

/** Writes a diff next to the repository; returns the path. */
function diffFile(repository: string, diff: string): string {
  const path = join(repository, "../run.diff");
  writeFileSync(path, diff);
  return path;
}
