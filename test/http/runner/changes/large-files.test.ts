import { createHash, randomBytes } from "node:crypto";
import { renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readChanges, readSnapshot, toLeftOut } from "../read-changes.js";
import { carried, changeScene, listPaths, put, toBytes } from "./change-scene.js";

/** Files in Git LFS, and files that are too large for a diff. */

const toContent = (seed: string): Buffer => Buffer.from(seed.repeat(1_000));

function toPointer(content: Buffer): string {
  const oid = createHash("sha256").update(content).digest("hex");
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
}

const files = {
  ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
  "a.bin": toPointer(toContent("a")),
  "b.bin": toPointer(toContent("b")),
  "c.txt": "one\n",
};

t.test("content that was fetched for a pointer is no change, also where its file was moved", async (t) => {
  const made = changeScene(t, files);
  const checkout = await made.lay("first");
  put(checkout.folder, "a.bin", toContent("a"));
  put(checkout.folder, "b.bin", toContent("b"));
  t.equal(await readChanges(checkout), "");
  renameSync(join(checkout.folder, "b.bin"), join(checkout.folder, "moved.bin"));
  const snapshot = await readSnapshot(checkout);
  t.same(snapshot.leftOut, []);
  t.match(snapshot.diff, /similarity index 100%\nrename from b\.bin\nrename to moved\.bin/);
  const next = await carried(made, checkout);
  t.equal(toBytes(next, "moved.bin").toString(), files["b.bin"]);
});

t.test("other content under the filter is left out by its path; a pointer and an empty file are taken", async (t) => {
  const made = changeScene(t, files);
  const checkout = await made.lay("first");
  put(checkout.folder, "a.bin", toContent("other"));
  put(checkout.folder, "b.bin", toPointer(toContent("newer")));
  put(checkout.folder, "new.bin", toContent("new"));
  put(checkout.folder, "short.bin", "short\n");
  put(checkout.folder, "empty.bin", "");
  put(checkout.folder, "c.txt", "two\n");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), ["b.bin", "c.txt", "empty.bin"]);
  t.match(toLeftOut(snapshot), [/^a\.bin: Git LFS/, /^new\.bin: Git LFS/, /^short\.bin: Git LFS/]);
  put(checkout.folder, ".gitattributes", "*.bin filter=other\n");
  t.same(
    listPaths(await readChanges(checkout)),
    [".gitattributes", "a.bin", "b.bin", "c.txt", "empty.bin", "new.bin", "short.bin"],
    "without the filter it is content like any other",
  );
});

t.test(
  "a file without a pointer is no change if its bytes are the same, and may move; each keeps its own pointer",
  async (t) => {
    const content = toContent("a");
    const other = toPointer(content).replace("git-lfs.github.com", "hawser.github.com");
    const plain = { "z.bin": other, "raw.bin": "raw\n", "same.bin": "same\n", "moved.bin": "moved\n" };
    const made = changeScene(t, { ...files, ...plain });
    const checkout = await made.lay("first");
    utimesSync(join(checkout.folder, "raw.bin"), new Date(), new Date());
    put(checkout.folder, "same.bin", "same\n");
    for (const name of ["a.bin", "z.bin"]) put(checkout.folder, name, content);
    const same = await readSnapshot(checkout);
    t.same([same.diff, toLeftOut(same)], ["", []]);
    renameSync(join(checkout.folder, "moved.bin"), join(checkout.folder, "new.bin"));
    const moved = await readSnapshot(checkout);
    t.match(moved.diff, /^diff .*\nsimilarity index 100%\nrename from moved\.bin\nrename to new\.bin\n$/);
    t.same(toLeftOut(moved), []);
  },
);

t.test("a file too large for the diff is left out by its path, and everything else is taken", async (t) => {
  const lines = "a line of text\n".repeat(20_000);
  const made = changeScene(t, { "long.txt": lines, bytes: randomBytes(100_000), t: "file\n" });
  const checkout = await made.lay("first");
  put(checkout.folder, "long.txt", `${lines}one more\n`);
  put(checkout.folder, "huge.txt", "x\n".repeat(100_000));
  put(checkout.folder, "bytes", randomBytes(100_000));
  put(checkout.folder, "small.txt", "small\n");
  put(checkout.folder, "latin", Buffer.from("caf\xe9\n", "latin1"));
  const all = ["bytes", "huge.txt", "latin", "long.txt", "small.txt"];
  t.same(listPaths((await readSnapshot(checkout)).diff), all);
  const bounded = await readSnapshot(checkout, { maxBytes: 50_000 });
  t.same(
    listPaths(bounded.diff),
    ["latin", "long.txt", "small.txt"],
    "a small change of a long file is a small change",
  );
  t.match(toLeftOut(bounded), [/^bytes: its change takes \d+ bytes/, /^huge\.txt: its change takes \d+ bytes/]);
  t.same(bounded.changed, ["latin", "long.txt", "small.txt"], "what is pushed is the same");
  const framed = await readSnapshot(checkout, { maxJsonBytes: 5_000 });
  t.same(listPaths(framed.diff), ["latin", "long.txt", "small.txt"]);
  const next = await made.lay("next", { base: checkout.base, diff: bounded.diff });
  put(next.folder, "more.txt", "y\n".repeat(100_000));
  const later = await readSnapshot(next, { maxBytes: 50_000, own: true });
  t.same(listPaths(later.diff), ["latin", "long.txt", "small.txt"], "what came before stays");
  t.equal(later.own, "");
  t.match(toLeftOut(later), [/^more\.txt: /]);
});

t.test("many files that are too large together are left out from the largest on", async (t) => {
  const made = changeScene(t, { "a.txt": "one\n" });
  const checkout = await made.lay("first");
  for (let n = 1; n <= 9; n += 1) put(checkout.folder, `f${n}.txt`, "x\n".repeat(n * 1_000));
  const { diff, leftOut } = await readSnapshot(checkout, { maxBytes: 40_000 });
  t.ok(diff.length <= 40_000);
  t.same(listPaths(diff), ["f1.txt", "f2.txt", "f3.txt", "f4.txt"]);
  t.equal(leftOut.length, 5);
});
