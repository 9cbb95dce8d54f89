import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { openDevScene, openTask, statusOf } from "../../../support/dev-scene.js";

t.test("--reset keeps the port", async (t) => {
  const scene = openDevScene(t);
  // No test in another process listens on this address.
  const env = { HOST: "127.0.0.4" };
  const other = createServer().listen(8787, env.HOST);
  await once(other, "listening");
  t.teardown(() => other.close());
  const startOnce = async (...args: readonly string[]) =>
    /^address +http:\/\/127\.0\.0\.4:(\d+)\//m.exec((await scene.run(["dev", ...args], { env })).out)?.[1];
  const port = await startOnce();
  t.match(port, /^\d+$/);
  t.not(port, "8787");
  other.close();
  await once(other, "close");
  t.equal(await startOnce("--reset", "--yes"), port);
});

t.test("--reset asks first, removes only what it made, and begins again", async (t) => {
  const scene = openDevScene(t);
  const { repository, run } = scene;
  mkdirSync(join(repository, ".signalbox"));
  writeFileSync(join(repository, ".signalbox/kept.txt"), "of the person\n");
  const dev = await scene.start();
  const taskId = await openTask(dev, "Old");
  t.match(await run(["dev", "--reset", "--yes", "--port", "0"]), {
    code: 1,
    err: /^error: signalbox dev already runs here, at http:\S+\nstop it first: Ctrl\+C$/,
  });
  t.equal((await dev.end()).code, 0);
  t.match(await run(["dev", "--reset"]), { code: 64, err: /standard input is not a terminal: use --yes/ });
  t.match(await run(["dev", "--reset"], { answers: ["n"] }), { code: 1, err: /^Remove .*\nnothing was removed$/ });
  const again = await scene.start();
  t.equal((await again.client.get("/api/tasks/{taskId}", { path: { taskId } })).title, "Old");
  await again.end();
  const reset = await scene.start("--reset", "--yes");
  t.equal(await statusOf(reset.client.get("/api/tasks/{taskId}", { path: { taskId } })), 404);
  t.equal(readFileSync(join(repository, ".signalbox/kept.txt"), "utf8"), "of the person\n");
});
