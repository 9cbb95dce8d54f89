import { fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { restoreBackup } from "../../storage/backup.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { shapes } from "./shapes.js";

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-lmdb-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const toMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

t.test("opening a folder without a store for reading, or as one that is there, leaves it unchanged", async (t) => {
  const root = temporary(t);
  const absent = join(root, "absent");
  await t.rejects(openLmdbStore({ folder: absent, readOnly: true }), {
    code: "failed",
    message: `${absent} is not a store: it has no data.mdb`,
  });
  await t.rejects(openLmdbStore({ folder: root, readOnly: true }), /is not a store/);
  await t.rejects(openLmdbStore({ folder: root, mustExist: true }), /is not a store/);
  t.same(readdirSync(root), []);
});

t.test(
  "only their user can read folder and file of a new store, an older one, a backup and a restored one",
  async (t) => {
    const root = temporary(t);
    const before = process.umask(0);
    t.teardown(() => process.umask(before));
    const folder = join(root, "store");
    await (await openLmdbStore({ folder })).close();
    t.same([toMode(folder), toMode(join(folder, "data.mdb"))], ["700", "600"]);
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "data.mdb"), 0o644);
    const store = await openLmdbStore({ folder });
    t.same([toMode(folder), toMode(join(folder, "data.mdb"))], ["700", "600"]);
    await store.backup(join(root, "backup"));
    await store.close();
    await restoreBackup({ from: join(root, "backup"), folder: join(root, "restored") });
    for (const name of ["backup", "restored"]) {
      t.same([toMode(join(root, name)), toMode(join(root, name, "data.mdb"))], ["700", "600"], name);
    }
  },
);

t.test("records of new shapes are read by another process, also after their writer was killed with -9", async (t) => {
  const folder = join(temporary(t), "store");
  const writer = fork(fileURLToPath(new URL("./holder.js", import.meta.url)), [folder], {
    stdio: ["pipe", "ignore", "inherit", "ipc"],
  });
  t.teardown(() => {
    writer.stdin?.destroy();
    writer.kill("SIGKILL");
  });
  await once(writer, "message");
  const beside = await openLmdbStore({ folder, readOnly: true });
  t.same(beside.reading.range({ prefix: ["shape"] }), []);
  const ended = once(writer, "exit");
  writer.send("write");
  t.same(await ended, [null, "SIGKILL"]);
  const wanted = shapes.map((value, index) => ({ key: ["shape", index], value }));
  t.same(beside.reading.range({ prefix: ["shape"] }), wanted);
  await beside.close();
  const again = await openLmdbStore({ folder });
  t.same(again.reading.range({ prefix: ["shape"] }), wanted);
  await again.commit([{ op: "put", key: ["shape", "more"], value: { quite: 1, another: 2, shape: 3 } }]);
  t.same(again.reading.range({ prefix: ["shape"], limit: shapes.length }), wanted, "more shapes change nothing");
  await again.close();
});

t.test("names that senders choose use up neither the shapes nor the store, and are read back", async (t) => {
  const folder = temporary(t);
  const store = await openLmdbStore({ folder });
  const letters = (index: number) => [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const chosen = Array.from({ length: 1_400 }, (_, index) => ({
    headers:
      index % 2
        ? { host: "a", [letters(index)]: "b" }
        : {
            "content-length": "2",
            [`x-${letters(index)}`]: "a",
            ...(index % 4 && { [`x-${"y".repeat(3_000)}`]: "b" }),
          },
  }));
  const rows = chosen.map((value, index) => ({ key: ["shape", index], value }));
  for (const row of rows) await store.commit([{ op: "put", ...row }]);
  const own = { key: ["shape", "own"], value: { quite: 1, another: 2 } };
  await store.commit([{ op: "put", ...own }]);
  t.same(store.reading.range({ prefix: ["shape"] }), [...rows, own]);
  await store.close();
  const raw = open<Buffer, symbol>({ path: folder, noSubdir: false, encoding: "binary", overlappingSync: false });
  const described = raw.get(Symbol.for("structures"));
  t.ok(described?.includes("another"), "there is room for rows of the service");
  t.ok((described?.length ?? 0) < 16_384, `${described?.length} bytes`);
  await raw.close();
  const again = await openLmdbStore({ folder });
  t.same(again.reading.range({ prefix: ["shape"] }), [...rows, own]);
  await again.close();
});

t.test("a store written by LMDB's binding alone, with its own shapes, can be read and extended", async (t) => {
  const folder = join(temporary(t), "store");
  const wanted = shapes.map((value, index) => ({ key: ["shape", index], value }));
  const root = open<unknown, (string | number)[]>({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    encoding: "msgpack",
    sharedStructuresKey: Symbol.for("structures"),
  });
  for (const { key, value } of wanted) await root.put(key, value);
  await root.put(["~", "meta", "format"], 1);
  await root.close();
  const store = await openLmdbStore({ folder });
  t.same(store.reading.range({ prefix: ["shape"] }), wanted);
  await store.commit([{ op: "put", key: ["shape", "more"], value: { quite: 1, another: 2, shape: 3 } }]);
  await store.close();
  const again = await openLmdbStore({ folder });
  t.same(again.reading.range({ prefix: ["shape"], limit: shapes.length }), wanted);
  t.same(again.reading.get(["shape", "more"]), { quite: 1, another: 2, shape: 3 });
  await again.close();
});

t.test("a backup of a closed store creates no folder", async (t) => {
  const root = temporary(t);
  const store = await openLmdbStore({ folder: join(root, "store") });
  const underWay = store.backup(join(root, "before"));
  await store.close();
  await underWay;
  t.ok(existsSync(join(root, "before", "data.mdb")), "one under way is waited for");
  await t.rejects(store.backup(join(root, "after")), { name: "StoreError", code: "closed" });
  t.notOk(existsSync(join(root, "after")));
});

t.test("a folder that could not be opened is not locked", async (t) => {
  const folder = join(temporary(t), "store");
  mkdirSync(folder);
  writeFileSync(join(folder, "data.mdb"), "no store at all");
  await t.rejects(openLmdbStore({ folder }), { code: "damaged" });
  rmSync(join(folder, "data.mdb"));
  mkdirSync(join(folder, "data.mdb"));
  await t.rejects(openLmdbStore({ folder }), { name: "StoreError", code: "failed", message: /EISDIR/ });
  rmdirSync(join(folder, "data.mdb"));
  await (await openLmdbStore({ folder })).close();
});

t.test("more views than LMDB has room for are refused, and closing one makes room", async (t) => {
  const store = await openLmdbStore({ folder: join(temporary(t), "store") });
  const views = [];
  let refused: unknown;
  for (let n = 0; refused === undefined && n < 2_000; n++) {
    await store.commit([{ op: "put", key: ["a"], value: n }]);
    try {
      views.push(store.view());
    } catch (error) {
      refused = error;
    }
  }
  t.match(refused, { name: "StoreError", code: "failed" });
  t.ok(views.length > 500);
  t.equal(views[0]?.get(["a"]), 0);
  views[0]?.close();
  store.view().close();
  for (const view of views) view.close();
  await store.close();
});

t.test("records of many shapes are read back, also those written when fewer shapes were shared", async (t) => {
  const folder = temporary(t);
  const letters = [..."abcdefghijklmnopqrstuvwxyz"].flatMap((first) => [`${first}x`, `${first}y`]);
  const named = (text: string) =>
    letters.map((name) => ({ [`${text}${name}`]: name, at: { [name]: [1, { [`${text}Inner`]: "é" }] }, run_01: 1 }));
  const older = open({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    encoding: "msgpack",
    sharedStructuresKey: Symbol.for("structures"),
  });
  for (const [n, value] of named("old").entries()) await older.put(["p", "row", "old", n], value);
  await older.put(["~", "meta", "format"], 1);
  await older.close();
  for (const life of ["first", "second"]) {
    const store = await openLmdbStore({ folder });
    const rows = named("new").map((value, n) => ({ op: "put", key: ["p", "row", life, n], value }) as const);
    await store.commit(rows);
    await store.commit(rows);
    const values = (name: string) => store.reading.range({ prefix: ["p", "row", name] }).map(({ value }) => value);
    t.same(values("old"), named("old"));
    t.same(values("first"), named("new"));
    t.same(values(life), named("new"));
    await store.close();
  }
});

t.test("a batch that is written in short parts is whole, and other work goes on meanwhile", async (t) => {
  const store = await openLmdbStore({ folder: temporary(t) });
  for (const [count, least] of [
    [11, 0],
    [100, 9],
  ] as const) {
    const changes = Array.from(
      { length: count },
      (_, n) => ({ op: "put", key: ["p", "r", count, n], value: n }) as const,
    );
    const stored = () => store.reading.range({ prefix: ["p", "r", count] });
    const committed = store.commit(changes, { inShortParts: true });
    for (let round = 0; round < least; round++) {
      t.same(stored(), [], "nothing of it is stored yet");
      await new Promise(setImmediate);
    }
    await committed;
    t.equal(stored().length, count);
  }
  await store.close();
});
