import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openDevScene, openTask, statusOf } from "../../../support/dev-scene.js";

t.test("--reset asks first, removes only what it made, and begins again", async (t) => {
  const scene = openDevScene(t);
  const { repository, run } = scene;
  mkdirSync(join(repository, ".signalbox"));
  writeFileSync(join(repository, ".signalbox/kept.txt"), "of the person\n");
  const dev = await scene.start();
  const taskId = await openTask(dev, "Old");
  t.match(await run(["dev", "--reset", "--yes", "--port", "0"]), { code: 1, err: /error: .*another process/ });
  t.equal((await dev.end()).code, 0);
  t.match(await run(["dev", "--reset"]), { code: 64, err: /standard input is not a terminal: use --yes/ });
  t.match(await run(["dev", "--reset"], { answers: ["n"] }), { code: 1, err: /nothing was removed/ });
  const again = await scene.start();
  t.equal((await again.client.get("/api/tasks/{taskId}", { path: { taskId } })).title, "Old");
  await again.end();
  const reset = await scene.start("--reset", "--yes");
  t.equal(await statusOf(reset.client.get("/api/tasks/{taskId}", { path: { taskId } })), 404);
  t.equal(readFileSync(join(repository, ".signalbox/kept.txt"), "utf8"), "of the person\n");
});
