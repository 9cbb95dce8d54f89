import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { copyOfFormat, findFormatCopy, isFormatCopy, removeFormatCopies } from "../../storage/format-copy.js";

function toFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-copy-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const stored = Buffer.alloc(300_000, "stored");

t.test("the copy is the file as it was, for this user alone, and an unfinished one makes way", async (t) => {
  const folder = toFolder(t);
  writeFileSync(join(folder, "data.mdb"), stored);
  writeFileSync(join(folder, "data.mdb.format-3.new"), "half of it");
  writeFileSync(join(folder, "data.mdb.format-3"), "of an earlier try");
  const copy = await copyOfFormat({ folder, from: 3, to: 5 });
  t.equal(copy, join(folder, "data.mdb.format-3"));
  t.same([readFileSync(copy), statSync(copy).mode & 0o777], [stored, 0o600]);
  t.same(readdirSync(folder).sort(), ["data.mdb", "data.mdb.format-3"]);
});

t.test("without room for the copy nothing is changed, and the message says how much is wanted where", async (t) => {
  const folder = toFolder(t);
  writeFileSync(join(folder, "data.mdb"), stored);
  await t.rejects(copyOfFormat({ folder, from: 3, to: 5, freeBytes: () => 299_999 }), {
    code: "disk-full",
    message: new RegExp(
      `^the store in ${folder} has format 3\\. Before the migration to 5, ${folder}/data.mdb is copied to ` +
        `${folder}/data.mdb.format-3, which needs 300000 bytes, but the disk has 299999 free. Free disk space and start again`,
    ),
  });
  t.same(readdirSync(folder), ["data.mdb"]);
  await copyOfFormat({ folder, from: 3, to: 5, freeBytes: () => 300_000 });
});

t.test("a copy that is ended early, or cannot be written, leaves nothing", async (t) => {
  const folder = toFolder(t);
  writeFileSync(join(folder, "data.mdb"), stored);
  const ending = new AbortController();
  ending.abort();
  await t.rejects(copyOfFormat({ folder, from: 3, to: 5, ending: ending.signal }), { name: "AbortError" });
  t.same(readdirSync(folder), ["data.mdb"]);
  mkdirSync(join(folder, "data.mdb.format-3"));
  await t.rejects(copyOfFormat({ folder, from: 3, to: 5 }), { name: "StoreError" });
  t.same(readdirSync(folder).sort(), ["data.mdb", "data.mdb.format-3"]);
});

t.test("where the file is a link, its copy is beside what it leads to, and is found and removed there", async (t) => {
  const [folder, disk] = [toFolder(t), toFolder(t)];
  writeFileSync(join(disk, "large.mdb"), stored);
  writeFileSync(join(disk, "data.mdb.format-3"), "of another store");
  symlinkSync(join(disk, "large.mdb"), join(folder, "data.mdb"));
  const copy = await copyOfFormat({ folder, from: 3, to: 5 });
  t.equal(copy, join(disk, "large.mdb.format-3"));
  t.same(findFormatCopy(folder, 4), { copy, file: join(disk, "large.mdb") });
  t.same(removeFormatCopies(folder), [copy]);
  t.same(readdirSync(disk).sort(), ["data.mdb.format-3", "large.mdb"]);
});

t.test("all copies of a store are removed, finished or not, and nothing else", async (t) => {
  const folder = toFolder(t);
  const others = ["data.mdb", "data.mdb.format-", "data.mdb.format-x", "data.mdb.format-3.bak", "data.mdb.format-03"];
  const copies = ["data.mdb.format-3", "data.mdb.format-17", "data.mdb.format-20.new"];
  for (const name of [...others, ...copies]) writeFileSync(join(folder, name), "");
  t.match(findFormatCopy(folder, 16), { copy: /format-3$/ });
  t.match(findFormatCopy(folder, 25), { copy: /format-17$/ }, "an unfinished one is none to go back to");
  t.equal(findFormatCopy(folder, 2), null);
  t.same([...others, ...copies].filter(isFormatCopy), copies);
  t.same(removeFormatCopies(folder).length, 3);
  t.same(readdirSync(folder).sort(), [...others].sort());
  t.same(removeFormatCopies(join(folder, "none")), []);
});
