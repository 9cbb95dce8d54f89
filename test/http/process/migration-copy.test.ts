import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { openStoppedStore } from "../../../http/cli/store/stopped-store.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { FORMAT_KEY, FROM_KEY } from "../../../storage/migrations.js";
import { unpackFixture } from "../../fixtures/unpack.js";
import { startTestService } from "../../support/service.js";
import { signalbox } from "../../support/signalbox-command.js";

const newest = migrations.length + 1;
const COPY = "data.mdb.format-1";
const silent = { note: () => undefined };

/**
 * Runs a service process on a folder. Kills the process when its output first matches `killAt`. Returns the output, and
 * the exit code or the signal that ended the process.
 */
async function run(folder: string, killAt: RegExp | null, shell: readonly string[] = []) {
  const [program = process.execPath, ...args] = [...shell, process.execPath, signalbox, "serve"];
  const env = { PATH: process.env.PATH ?? "", DATA_DIR: folder, PORT: "0" };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
      if (killAt?.test(said) === true) child.kill("SIGKILL");
    });
  }
  const [code, signal] = await once(child, "close");
  return { said, code, signal };
}

t.test("a start that migrates keeps the file as it was until the next start that migrates nothing", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const before = readFileSync(join(folder, "data.mdb"));
  const first = await startTestService(t, { folder });
  await first.logged(
    new RegExp(
      `from format 1 to ${newest}, which earlier releases cannot read: a copy of its file is at \\S+/${COPY} until`,
    ),
  );
  t.ok(before.equals(readFileSync(join(folder, COPY))));
  await first.stop();
  t.ok(before.equals(readFileSync(join(folder, COPY))), "a stop keeps it");
  const second = await startTestService(t, { folder });
  await second.logged(/removed \S+\/data\.mdb\.format-1: the migrated store is in use/);
  t.notOk(existsSync(join(folder, COPY)));
  await second.stop();
});

t.test(
  "a process killed in the middle of the migration, or of the copy, leaves the file as it was beside it",
  async (t) => {
    const { folder } = unpackFixture(t, "format-1");
    const before = readFileSync(join(folder, "data.mdb"));
    // Create the state that a kill during the copy leaves.
    writeFileSync(join(folder, `${COPY}.new`), before.subarray(0, before.length / 2));
    for (const killAt of [/^migrating|migrating the store/, /resumes|listening/]) {
      const { signal } = await run(folder, killAt);
      t.equal(signal, "SIGKILL");
      t.ok(before.equals(readFileSync(join(folder, COPY))));
      t.notOk(existsSync(join(folder, `${COPY}.new`)));
    }
    await (await openStoppedStore(silent, folder)).close();
    t.ok(before.equals(readFileSync(join(folder, COPY))));
  },
);

t.test("a start that continues a migration makes no copy, and keeps the one that it was begun with", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const before = readFileSync(join(folder, "data.mdb"));
  writeFileSync(join(folder, COPY), before);
  const store = await openLmdbStore({ folder });
  await store.commit([
    { op: "put", key: FORMAT_KEY, value: newest },
    { op: "put", key: FROM_KEY, value: 1 },
  ]);
  await store.close();
  const service = await startTestService(t, { folder });
  await service.logged(/from format 1 to \d+ was interrupted, and resumes/);
  await service.stop();
  t.ok(before.equals(readFileSync(join(folder, COPY))));
  rmSync(join(folder, "data.mdb"));
  writeFileSync(join(folder, "data.mdb"), readFileSync(join(folder, COPY)));
  const again = await startTestService(t, { folder });
  await again.logged(/migrating the store in \S+ from format 1/);
  await again.stop();
});

t.test(
  "without room for the copy there is no start: one line says what is wanted, and nothing is changed",
  async (t) => {
    const { folder } = unpackFixture(t, "format-1");
    const before = readFileSync(join(folder, "data.mdb"));
    const blocks = Math.ceil(before.length / 512 / 2);
    const { said, code } = await run(folder, null, ["sh", "-c", `ulimit -f ${blocks}; exec "$@"`, "sh"]);
    t.equal(code, 1);
    t.match(said, /^\{.*"msg":"starting"\}\n\S.*data\.mdb.*start again; acknowledged data is safe\n$/);
    t.ok(before.equals(readFileSync(join(folder, "data.mdb"))));
    t.notOk(readdirSync(folder).some((name) => name.startsWith(COPY)));
  },
);

t.test("tools that migrate a stopped service's store keep its file too", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const before = readFileSync(join(folder, "data.mdb"));
  await (await openStoppedStore(silent, folder)).close();
  await (await openStoppedStore(silent, folder)).close();
  t.ok(before.equals(readFileSync(join(folder, COPY))), "and leave it to a start to remove it");
});

t.test("a release that finds a newer store names the copy that it can go back to", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder });
  await store.commit([{ op: "put", key: ["~", "meta", "format"], value: 1_000 }]);
  await store.close();
  for (const name of [COPY, "data.mdb.format-999", `data.mdb.format-${newest}.new`])
    writeFileSync(join(folder, name), "");
  const { said, code } = await run(folder, null);
  t.equal(code, 1);
  t.match(
    said,
    /: use a newer release, or restore the store from before the upgrade: move \S+\/data\.mdb\.format-1 to \S+\/data\.mdb\n$/,
  );
});
