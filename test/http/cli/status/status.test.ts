import { rmSync } from "node:fs";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { hook, hookScene } from "../../../support/hook-scene.js";
import { openSignalbox } from "../../../support/signalbox.js";
import { runSignalbox } from "../../../support/signalbox-command.js";
import { statusCases } from "./status-cases.js";

t.test("the command that shows the state of a service", async (t) =>
  testCommands(t, await openCommandScene(t), statusCases),
);

t.test("status counts queued tasks, names failing hooks, and knows the last backup", async (t) => {
  const scene = await hookScene(t, (response) => {
    response.statusCode = 410;
    response.end();
  });
  const { service } = scene;
  const { run } = openSignalbox(t);
  await run(["login", service.baseUrl, "--link", await service.linkFor("ada@example.com")]);
  await scene.addHook({ ...hook(scene.receiver.url), key: "tell" });
  await scene.openTask();
  await scene.settled("failed");
  const before = Date.now();
  t.teardown(() => rmSync(`${service.folder}-copy`, { recursive: true, force: true }));
  const backup = await runSignalbox("backup", "--data", service.folder, "--to", `${service.folder}-copy`);
  t.equal(backup.code, 0, backup.err);
  const { code, out, err } = await run(["status", "--json"]);
  t.equal(code, 0, err);
  const shown = JSON.parse(out);
  const failing = { delivered: 0, refused: 0, failed: 1, waiting: 0, nextRetryAt: null };
  t.match(shown, { queued: 1, running: 0, failingHooks: [{ ...failing, hook: /\/tell$/ }] });
  t.ok(Date.parse(shown.backupAt) >= before);
  t.match(
    (await run(["status"])).out,
    /queue +1 task queued, 0 running\nrunners .*\nfailing hooks +1\n\nHOOK +DELIVERED +REFUSED +FAILED +WAITING +NEXT RETRY\n\S+\/tell +0 +0 +1 +0 +-$/,
  );
});
