import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { removeAll } from "../../../../http/runner/checkout/run-folder.js";
import { inRepository } from "../../../support/repository.js";
import { readChanges, readSnapshot, toLeftOut } from "../read-changes.js";
import { carried, changeScene, listPaths, put, toBytes } from "./change-scene.js";

/**
 * Tests unusual folders, as people and agents leave them. The snapshot contains everything that git can store, and
 * lists the names of all other files.
 */

t.test("a repository inside is taken as its files, at any depth, with or without commits", async (t) => {
  const made = changeScene(t, { "a.txt": "one\n", ".gitignore": "*.log\nbuild/\n" });
  const checkout = await made.lay("first");
  const inner = (name: string) => {
    mkdirSync(join(checkout.folder, name), { recursive: true });
    inRepository(join(checkout.folder, name), "init", "--quiet");
    put(checkout.folder, `${name}/f.txt`, `${name}\n`);
  };
  for (const name of ["fresh", "committed", "committed/deep", "build/ignored"]) inner(name);
  put(checkout.folder, "committed/.gitignore", "*.o\n");
  for (const name of ["x.o", "x.log", "build/x"]) put(checkout.folder, `committed/${name}`, "made\n");
  inRepository(join(checkout.folder, "committed"), "add", "f.txt");
  inRepository(join(checkout.folder, "committed"), "commit", "--quiet", "-m", "Theirs");
  mkdirSync(join(checkout.folder, "empty"));
  inRepository(join(checkout.folder, "empty"), "init", "--quiet");
  inRepository(checkout.folder, "init", "--quiet", "--bare", "bare.git");
  mkdirSync(join(checkout.folder, "apart"));
  inRepository(join(checkout.folder, "apart"), "init", "--quiet", "--separate-git-dir", join(made.folder, "apart.git"));
  put(checkout.folder, "apart/f.txt", "apart\n");
  const snapshot = await readSnapshot(checkout);
  t.same(snapshot.leftOut, []);
  t.same(
    listPaths(snapshot.diff).filter((path) => !path.startsWith("bare.git/")),
    ["apart/f.txt", "committed/.gitignore", "committed/deep/f.txt", "committed/f.txt", "fresh/f.txt"],
  );
  t.ok(listPaths(snapshot.diff).includes("bare.git/HEAD"), "a bare one is a folder of files");
  const next = await carried(made, checkout);
  t.equal(toBytes(next, "committed/deep/f.txt").toString(), "committed/deep\n");
  t.equal(await readChanges(next), snapshot.diff, "the next station sees them as files of the repository");
});

t.test("a worktree inside is left out by its path, and nothing else with it", async (t) => {
  const { lay } = changeScene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  inRepository(checkout.folder, "worktree", "add", "--quiet", "trees/feature", "-b", "feature");
  put(checkout.folder, "trees/feature/b.txt", "lost\n");
  put(checkout.folder, "trees/c.txt", "kept\n");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), ["trees/c.txt"]);
  t.match(toLeftOut(snapshot), [/^trees\/feature: .*worktree/]);
});

t.test("a path that git takes under no such name is left out, and everything else is taken", async (t) => {
  const made = changeScene(t, { "a.txt": "one\n" });
  const checkout = await made.lay("first");
  const refused = [".GIT/config", "git~1", "x/.Git/y", "x/.git /z"];
  for (const name of [...refused, "README", "readme", "new\nline", 'tab\t"quoted"', "ünï", "-dash", ":(top)x"])
    put(checkout.folder, name, `${name}\n`);
  const bytes = Buffer.concat([Buffer.from(`${checkout.folder}/latin-`), Buffer.from([0xe9])]);
  writeFileSync(bytes, "latin\n");
  symlinkSync("/etc/passwd", join(checkout.folder, ".gitmodules"));
  symlinkSync("/", join(checkout.folder, "root"));
  const snapshot = await readSnapshot(checkout);
  t.same(
    toLeftOut(snapshot).map((line) => line.split(": ")[0]),
    [".GIT/config", ".gitmodules", "git~1", "x/.Git/y", "x/.git /z"],
  );
  for (const line of toLeftOut(snapshot)) t.match(line, /git does not accept this file name/);
  t.same(snapshot.changed.length, 9);
  const next = await carried(made, checkout);
  for (const name of ["README", "readme", "new\nline", "ünï", "-dash", ":(top)x"])
    t.equal(toBytes(next, name).toString(), `${name}\n`);
  t.equal(readlinkSync(join(next.folder, "root")), "/");
});

t.test("what is neither file nor link, or cannot be read, is left out as it was", async (t) => {
  const { lay } = changeScene(t, {
    "a.txt": "one\n",
    "pipe.txt": "two\n",
    "socket.txt": "three\n",
    "mode.txt": "four\n",
    "half/x.txt": "five\n",
    "shut/x.txt": "six\n",
  });
  const checkout = await lay("first");
  for (const name of ["pipe.txt", "socket.txt"]) rmSync(join(checkout.folder, name));
  execFileSync("/bin/sh", ["-c", "mkfifo pipe.txt new-pipe"], { cwd: checkout.folder });
  const server = createServer().listen(join(checkout.folder, "socket.txt"));
  t.teardown(() => void server.close());
  put(checkout.folder, "mode.txt", "changed\n");
  chmodSync(join(checkout.folder, "mode.txt"), 0);
  // In the folder `half`, only the file names are readable.
  for (const [name, mode] of [
    ["closed", 0],
    ["half", 0o444],
    ["shut", 0],
  ] as const) {
    for (const file of ["x.txt", "y.txt"]) put(checkout.folder, `${name}/${file}`, "changed\n");
    chmodSync(join(checkout.folder, name), mode);
    t.teardown(() => chmodSync(join(checkout.folder, name), 0o700));
  }
  put(checkout.folder, "a.txt", "changed\n");
  const snapshot = await readSnapshot(checkout);
  // If the tests run as root, all files are readable.
  const readsAll = process.getuid?.() === 0;
  const inside = ["closed", "half", "shut"].flatMap((name) => [`${name}/x.txt`, `${name}/y.txt`]);
  t.same(
    listPaths(snapshot.diff),
    readsAll ? ["a.txt", ...inside.slice(0, 4), "mode.txt", ...inside.slice(4)] : ["a.txt"],
  );
  const named = toLeftOut(snapshot).map((line) => line.replace(/ \(.*$/, ""));
  const special = ["pipe.txt: it is neither a file nor a link", "socket.txt: it is neither a file nor a link"];
  const closed = ["closed", "half/x.txt", "half/y.txt", "mode.txt", "shut", "shut/x.txt"];
  t.same(named.sort(), [...(readsAll ? [] : closed.map((path) => `${path}: it could not be read`)), ...special].sort());
});

t.test("a file that cannot be converted to what is stored is left out, and no other", async (t) => {
  const { lay } = changeScene(t, { ".gitattributes": "*.utf16 working-tree-encoding=UTF-16LE\n", "a.utf16": "one\n" });
  const checkout = await lay("first");
  t.equal(await readChanges(checkout), "");
  put(checkout.folder, "a.utf16", Buffer.from("two\n", "utf16le"));
  put(checkout.folder, "b.utf16", Buffer.from([0x00, 0xd8, 0x41]));
  put(checkout.folder, "c.txt", "three\n");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), ["a.utf16", "c.txt"]);
  t.match(toLeftOut(snapshot), [/^b\.utf16: git cannot add it \(failed to encode/]);
});

t.test("what is byte for byte as it was checked out is no change, whatever the attributes say", async (t) => {
  const made = changeScene(t, {
    "crlf.txt": "one\r\ntwo\r\n",
    "id.c": "/* $Id: 12 $ */\n",
    "lf.bat": "one\n",
    "run.sh": "one\r\n",
    ".gitignore": "forced.txt\n",
    "forced.txt": "one\r\n",
  });
  made.git("add", "--force", "forced.txt");
  put(made.repository, ".gitattributes", "*.txt text\n*.c ident\n*.bat eol=crlf\n*.sh text eol=lf\n");
  made.git("add", ".gitattributes");
  made.git("commit", "--quiet", "-m", "Attributes");
  const checkout = await made.lay("first");
  const names = ["crlf.txt", "id.c", "lf.bat", "run.sh", "forced.txt"];
  const touch = () => {
    for (const name of names) utimesSync(join(checkout.folder, name), new Date(), new Date());
  };
  touch();
  t.equal(await readChanges(checkout), "", "files that were only touched");
  put(checkout.folder, "crlf.txt", "other\r\n");
  t.same(listPaths(await readChanges(checkout)), ["crlf.txt"]);
  put(checkout.folder, "crlf.txt", "one\r\ntwo\r\n");
  t.equal(await readChanges(checkout), "", "a file that was changed back");
  put(checkout.folder, ".gitattributes", "* text=auto eol=lf\n");
  inRepository(checkout.folder, "config", "core.autocrlf", "input");
  inRepository(checkout.folder, "add", "--renormalize", ".");
  touch();
  t.same(listPaths(await readChanges(checkout)), [".gitattributes"], "attributes that the agent changed");
  chmodSync(join(checkout.folder, "run.sh"), 0o755);
  const diff = await readChanges(checkout);
  t.match(diff, "old mode 100644\nnew mode 100755\n");
  t.notMatch(diff, /^-one/m, "the mode alone changed");
  t.equal(await readChanges(await carried(made, checkout)), diff);
});

t.test("what the agent tells its own index and repository has no say", async (t) => {
  const made = changeScene(t, { "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n" });
  const checkout = await made.lay("first");
  inRepository(checkout.folder, "update-index", "--skip-worktree", "a.txt");
  inRepository(checkout.folder, "update-index", "--assume-unchanged", "b.txt");
  for (const name of ["a.txt", "b.txt"]) put(checkout.folder, name, "two\n");
  inRepository(checkout.folder, "sparse-checkout", "set", "--no-cone", "/a.txt", "/b.txt", "/c.txt");
  inRepository(checkout.folder, "commit", "--quiet", "--allow-empty", "-m", "Mine");
  inRepository(checkout.folder, "replace", "HEAD", "HEAD~1");
  for (const name of ["index.lock", "HEAD.lock", "shallow", "info/grafts"]) put(checkout.folder, `.git/${name}`, "");
  t.same(listPaths(await readChanges(checkout)), ["a.txt", "b.txt"]);
});

t.test("a file that changed within the second in which it was written is seen to, later too", async (t) => {
  const { lay } = changeScene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  put(checkout.folder, "a.txt", "two\n");
  // When the snapshot copies the index, the copy must keep the index's date. With today's date, git would skip the
  // changed file.
  const written = statSync(join(checkout.folder, ".git/index")).mtimeMs;
  for (const at of [checkout.record, `${checkout.record}.site`]) {
    t.same(listPaths(await readChanges(checkout)), ["a.txt"]);
    t.ok(Math.abs(statSync(join(at, "index")).mtimeMs - written) < 1, at);
  }
});

t.test("folders, files and links that took each other's places are taken as they are", async (t) => {
  const made = changeScene(t, { a: "one\n", "d/x": "one\n", "e/x": "one\n", l: "one\n" });
  const checkout = await made.lay("first");
  const at = (name: string) => join(checkout.folder, name);
  rmSync(at("a"));
  put(checkout.folder, "a/inside", "two\n");
  rmSync(at("d"), { recursive: true });
  symlinkSync("e", at("d"));
  renameSync(at("l"), at("moved"));
  symlinkSync("moved", at("l"));
  rmSync(at("e"), { recursive: true });
  mkdirSync(at("e"));
  inRepository(at("e"), "init", "--quiet");
  put(checkout.folder, "e/y", "two\n");
  const snapshot = await readSnapshot(checkout);
  t.same(snapshot.leftOut, []);
  const next = await carried(made, checkout);
  t.ok(lstatSync(join(next.folder, "d")).isSymbolicLink());
  t.notOk(existsSync(join(next.folder, "e/x")));
  for (const name of ["a/inside", "e/y", "moved"]) t.same(toBytes(next, name), toBytes(checkout, name), name);
  t.equal(await readChanges(next), snapshot.diff);
});

t.test("folders deeper than a path may be long are left out by name, and removed with the run", async (t) => {
  const { lay } = changeScene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  const name = "d".repeat(200);
  const dig = `i=0; while [ $i -lt 25 ]; do mkdir ${name} && cd ${name} || exit 1; i=$((i+1)); done; echo deep > f`;
  execFileSync("/bin/bash", ["-c", dig], { cwd: checkout.folder });
  put(checkout.folder, "b.txt", "two\n");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), ["b.txt"]);
  t.equal(snapshot.leftOut.length, 1);
  t.match(toLeftOut(snapshot), [/^ddd.*could not be read \(its path is too long\)/]);
  await removeAll(checkout.folder);
  t.notOk(existsSync(checkout.folder));
});
