import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { address } from "../../../../runtime/cells/address.js";
import { deadLetterPut } from "../../../../runtime/messages/dead-letters.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { openLmdbStore } from "../../../../storage/lmdb-store.js";
import { workspaceWithTeam } from "../../../support/resources.js";
import { startTestService, type TestServiceOptions } from "../../../support/service.js";
import { type CommandEnd, runSignalbox, runStoreProgram } from "../../../support/signalbox-command.js";
import { until } from "../../../support/until.js";

const run = (...args: string[]): Promise<CommandEnd> => runStoreProgram("dead-letters", ...args);

/**
 * Returns a running service with an open task, and two functions. One adds two dead letters to the service's folder
 * once the service is stopped. The other starts the service again.
 */
async function scene(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-dead-letters-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const options: TestServiceOptions = { folder };
  const service = await startTestService(t, options);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await ada.create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations });
  const opened = await ada.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
  const taskId = String(opened.body?.id);
  const setAside = async () => {
    const store = await openLmdbStore({ folder });
    const close = { type: "task.close", by: "ada@example.com" } as Message;
    const common = { error: "Error: it failed\n    at somewhere", atMs: Date.parse("2026-01-01T00:00:00.000Z") };
    await store.commit([
      deadLetterPut({ ...common, id: "msg_1", to: address(workspaceId, "task", taskId), message: close }),
      deadLetterPut({ ...common, id: "msg_2", to: address("~", "account", "b@example.com"), message: close }),
    ]);
    await store.close();
  };
  return { folder, service, ada, workspaceId, taskId, setAside, again: () => startTestService(t, options) };
}

t.test("dead letters of all workspaces are listed without their contents while the service runs", async (t) => {
  const { folder, service, workspaceId, taskId, setAside, again } = await scene(t);
  await service.stop();
  await setAside();
  await again();
  const { code, out, err } = await runSignalbox("dead-letters", "--data", folder);
  t.equal(code, 0);
  t.same(out.split("\n"), [
    `2026-01-01T00:00:00.000Z\tmsg_1\t${workspaceId}\ttask/${taskId}\ttask.close\tError: it failed`,
    "2026-01-01T00:00:00.000Z\tmsg_2\t~\taccount/b@example.com\ttask.close\tError: it failed",
    "",
  ]);
  t.equal(err, "2 dead letters\n");
});

t.test("one that is sent again is delivered by the service that starts next, and by no other", async (t) => {
  const { folder, service, ada, taskId, setAside, again } = await scene(t);
  const refused = await run("--data", folder, "--retry", "msg_1");
  t.equal(refused.code, 1);
  t.match(refused.err, /^[^\n]+\n$/, "one line that says who has the folder");
  await service.stop();
  await setAside();
  t.match(await run("--data", folder, "--retry", "msg_1"), {
    code: 0,
    out: "msg_1 will be sent again when the service starts\n",
  });
  t.match(await run("--data", folder, "--retry", "msg_1"), { code: 1, err: "no dead letter has the id msg_1\n" });
  const next = await again();
  const { cookie = "" } = ada.credentials;
  const state = async () =>
    (await next.anonymous.request("GET", `/api/tasks/${taskId}`, undefined, { cookie })).body?.state;
  await until("the task to be closed", async () => (await state()) === "closed");
  t.match((await runSignalbox("dead-letters", "--data", folder)).out, /^[^\n]*\tmsg_2\t[^\n]*\n$/, "the other is left");
});

t.test("a folder that is no data folder is said to be none", async (t) => {
  const { code, err } = await run("--data", join(tmpdir(), "signalbox-nowhere"));
  t.equal(code, 1);
  t.match(err, /signalbox-nowhere/);
});
