import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { compactionSteps, compactStore } from "../../storage/compaction.js";
import { listEntries } from "../../storage/finding.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Entry } from "../../storage/store.js";
import { RawStore } from "../support/raw-store.js";

const ROWS = 2_000;
/** The folder of the copy. */
const COPY = "data.mdb.compaction";

/**
 * Creates a store from which most rows were removed, so that most of its file is free. Returns the remaining entries.
 */
async function sparseStore(t: Test): Promise<{ readonly folder: string; readonly entries: readonly Entry[] }> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-compaction-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openLmdbStore({ folder });
  const toKey = (n: number) => ["ws_1", "row", "thing", n];
  const value = "x".repeat(3_000);
  await store.commit(Array.from({ length: ROWS }, (_, n) => ({ op: "put", key: toKey(n), value: `${n} ${value}` })));
  await store.commit(Array.from({ length: ROWS - 50 }, (_, n) => ({ op: "remove", key: toKey(n) })));
  const entries = [...listEntries(store.reading, [])];
  await store.close();
  return { folder, entries };
}

async function collectEntries(folder: string): Promise<readonly Entry[]> {
  const store = await openLmdbStore({ folder, mustExist: true });
  const entries = [...listEntries(store.reading, [])];
  await store.close();
  return entries;
}

const toSize = (folder: string): number => statSync(join(folder, "data.mdb")).size;

t.test("a compacted store holds what it held, in a file without free pages, and is served as before", async (t) => {
  const { folder, entries } = await sparseStore(t);
  const size = toSize(folder);
  const { beforeBytes, afterBytes, entries: count } = await compactStore({ folder });
  t.same([beforeBytes, afterBytes, count], [size, toSize(folder), entries.length]);
  t.ok(afterBytes * 5 < beforeBytes, `${beforeBytes} bytes before, ${afterBytes} after`);
  t.equal(statSync(join(folder, "data.mdb")).mode & 0o777, 0o600);
  t.notOk(existsSync(join(folder, COPY)));
  t.same(await collectEntries(folder), entries);
  const store = await openLmdbStore({ folder });
  await store.commit([{ op: "put", key: ["ws_1", "row", "thing", 1], value: "again" }]);
  await store.close();
  t.equal((await collectEntries(folder)).length, entries.length + 1);
});

t.test("ended at any step, the store is whole, and the next compaction comes to its end", async (t) => {
  for (const last of compactionSteps) {
    const { folder, entries } = await sparseStore(t);
    const stepping = (step: string) => {
      if (step === last) throw new Error("killed");
    };
    await t.rejects(compactStore({ folder, stepping }), /killed/, last);
    t.same(await collectEntries(folder), entries, last);
    await compactStore({ folder });
    t.same([await collectEntries(folder), existsSync(join(folder, COPY))], [entries, false], last);
  }
});

t.test("what a killed compaction left of its copy is not taken for one", async (t) => {
  const { folder, entries } = await sparseStore(t);
  mkdirSync(join(folder, COPY));
  copyFileSync(join(folder, "signalbox.lock"), join(folder, COPY, "data.mdb"));
  t.same(await collectEntries(folder), entries);
  await compactStore({ folder });
  t.same(await collectEntries(folder), entries);
});

t.test("a store in use, one without room, a damaged one and none are left as they are", async (t) => {
  const { folder, entries } = await sparseStore(t);
  const store = await openLmdbStore({ folder });
  await t.rejects(compactStore({ folder }), { code: "in-use" });
  await store.close();
  const size = toSize(folder);
  await t.rejects(compactStore({ folder, freeBytes: () => size - 1 }), {
    code: "disk-full",
    message: /nothing was changed/,
  });
  const check = () => {
    throw new Error("older");
  };
  await t.rejects(compactStore({ folder, check }), /older/);
  t.same([await collectEntries(folder), toSize(folder)], [entries, size]);
  const raw = new RawStore(folder);
  await raw.flip(entries[3]?.key ?? []);
  await raw.close();
  const damagedSize = toSize(folder);
  await t.rejects(compactStore({ folder }), { code: "damaged" });
  t.equal(toSize(folder), damagedSize);
  const none = join(folder, "none");
  await t.rejects(compactStore({ folder: none }), { message: /is not a store/ });
  t.notOk(existsSync(none));
});

t.test("nothing is removed that no compaction left, and what stands in the way is named", async (t) => {
  const { folder, entries } = await sparseStore(t);
  const foreign = join(folder, "compaction");
  mkdirSync(foreign);
  writeFileSync(join(foreign, "minutes.txt"), "of a meeting");
  await compactStore({ folder });
  t.equal(readFileSync(join(foreign, "minutes.txt"), "utf8"), "of a meeting");
  const size = toSize(folder);
  const copy = join(folder, COPY);
  const inTheWay: readonly [make: () => void, named: string][] = [
    [() => writeFileSync(copy, "text"), "it is no folder"],
    [() => symlinkSync(foreign, copy), "it is no folder"],
    [() => cpSync(foreign, copy, { recursive: true }), "minutes.txt"],
  ];
  for (const [make, named] of inTheWay) {
    make();
    const message = `${copy} was not created by a compaction (${named}); nothing was changed: move it away`;
    await t.rejects(compactStore({ folder }), { name: "StoreError", code: "not-empty", message });
    t.same([lstatSync(copy, { throwIfNoEntry: false }) !== undefined, toSize(folder)], [true, size]);
    rmSync(copy, { recursive: true });
  }
  t.same([await collectEntries(folder), readdirSync(foreign)], [entries, ["minutes.txt"]]);
});

t.test("a file that is a link stays one: the file that it leads to is compacted where it is", async (t) => {
  const { folder, entries } = await sparseStore(t);
  const disk = mkdtempSync(join(tmpdir(), "signalbox-compaction-"));
  t.teardown(() => rmSync(disk, { recursive: true, force: true }));
  const [link, file] = [join(folder, "data.mdb"), join(disk, "store.mdb")];
  renameSync(link, file);
  symlinkSync(file, link);
  const { beforeBytes, afterBytes } = await compactStore({ folder });
  t.ok(afterBytes * 5 < beforeBytes);
  t.same([lstatSync(link).isSymbolicLink(), statSync(file).size, readdirSync(disk)], [true, afterBytes, ["store.mdb"]]);
  t.same(await collectEntries(folder), entries);
});

t.test("a lock that cannot be taken is told as every fault of a store", async (t) => {
  const { folder } = await sparseStore(t);
  rmSync(join(folder, "signalbox.lock"));
  mkdirSync(join(folder, "signalbox.lock"));
  await t.rejects(compactStore({ folder }), {
    name: "StoreError",
    code: "failed",
    message: /open '.*signalbox\.lock'/,
  });
});
