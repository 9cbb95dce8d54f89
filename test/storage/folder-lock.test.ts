import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { openLmdbStore } from "../../storage/lmdb-store.js";

const run = promisify(execFile);
const toProgram = (name: string) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const IN_USE = /another process uses the store in .*store: stop it, or use another folder/;

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-lock-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store");
}

/**
 * Starts a process that serves the store in `folder`. Returns the process with the process id of its child, which
 * outlives the process.
 */
async function hold(t: Test, folder: string, env = process.env): Promise<{ holder: ChildProcess; outliving: number }> {
  const holder = fork(toProgram("holder"), [folder], { stdio: ["pipe", "ignore", "inherit", "ipc"], env });
  t.teardown(() => {
    holder.stdin?.destroy();
    holder.kill("SIGKILL");
  });
  const [outliving] = await once(holder, "message");
  return { holder, outliving };
}

t.test("a second process is refused while the first one lives, and served after it was killed with -9", async (t) => {
  const folder = temporary(t);
  const { holder, outliving } = await hold(t, folder);
  await t.rejects(openLmdbStore({ folder }), { code: "in-use", message: IN_USE });
  holder.kill("SIGKILL");
  await once(holder, "exit");
  t.equal(process.kill(outliving, 0), true, "a process that the first one started lives on");
  await (await openLmdbStore({ folder })).close();
});

t.test("a reader can open a folder that another process has locked", async (t) => {
  const folder = temporary(t);
  await hold(t, folder);
  const reader = await openLmdbStore({ folder, readOnly: true });
  t.same(reader.reading.range({ prefix: ["a"] }), []);
  await reader.close();
});

t.test("a process in another network namespace is refused too", async (t) => {
  const folder = temporary(t);
  const apart = (program: string) => run("unshare", ["--net", process.execPath, toProgram(program), folder]);
  const isPossible = await run("unshare", ["--net", "true"]).then(
    () => true,
    () => false,
  );
  if (!isPossible) return t.comment("skipped: a network namespace can only be made by a superuser who may make one");
  await hold(t, folder);
  const refused = await apart("writer").catch((error: { stderr: string }) => error);
  t.match(refused.stderr, IN_USE);
});

t.test("without the program flock a second process is refused too", async (t) => {
  const folder = temporary(t);
  await hold(t, folder);
  const without = { ...process.env, PATH: "/nowhere" };
  const refused = await run(process.execPath, [toProgram("writer"), folder], { env: without }).catch(
    (error: { stderr: string }) => error,
  );
  t.match(refused.stderr, IN_USE);
});

t.test("a refused process holds no lock: the folder opens once the lock is free", async (t) => {
  const folder = temporary(t);
  mkdirSync(folder);
  const other = spawn("flock", ["-x", join(folder, "signalbox.lock"), "sh", "-c", "echo held; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const started = await Promise.race([once(other.stdout, "data"), once(other, "error").then(() => null)]);
  if (started === null) return t.comment("skipped: the program flock is missing");
  await t.rejects(openLmdbStore({ folder }), { code: "in-use" });
  other.stdin.end();
  await once(other, "exit");
  const store = await openLmdbStore({ folder });
  await t.rejects(openLmdbStore({ folder }), { code: "in-use" }, "within one process too");
  await store.close();
  await (await openLmdbStore({ folder })).close();
});
