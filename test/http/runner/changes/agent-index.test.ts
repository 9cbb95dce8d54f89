import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { inRepository } from "../../../support/repository.js";
import { readChanges, readSnapshot, toLeftOut } from "../read-changes.js";
import { carried, changeScene, listPaths, put, toBytes } from "./change-scene.js";
import { modulesScene } from "./modules-scene.js";

/**
 * Changes that depend on the index of the agent's clone: repositories instead of files, forced paths, sparse folders.
 */

function begin(folder: string, name: string, isCommitted: boolean): void {
  mkdirSync(join(folder, name), { recursive: true });
  inRepository(join(folder, name), "init", "--quiet");
  put(folder, `${name}/in.txt`, `${name}\n`);
  if (!isCommitted) return;
  inRepository(join(folder, name), "add", ".");
  inRepository(join(folder, name), "commit", "--quiet", "-m", "Inside");
}

t.test("a repository in place of a file, a link or a folder arrives as files", async (t) => {
  const made = changeScene(t, { a: "one\n", b: "one\n", "d/x": "one\n", "e/x": "one\n", ".gitignore": "ignored\n" });
  symlinkSync("a", join(made.repository, "l"));
  put(made.repository, "ignored", "one\n");
  made.git("add", "--force", "l", "ignored");
  made.git("commit", "--quiet", "-m", "More");
  const checkout = await made.lay("first");
  for (const name of ["a", "b", "d", "e", "l", "ignored"]) rmSync(join(checkout.folder, name), { recursive: true });
  for (const name of ["a", "d", "l", "ignored"]) begin(checkout.folder, name, name !== "l");
  begin(checkout.folder, "b/deep", true);
  inRepository(checkout.folder, "worktree", "add", "--quiet", "e");
  const snapshot = await readSnapshot(checkout);
  const paths = ["a/in.txt", "b/deep/in.txt", "d/in.txt", "ignored/in.txt", "l/in.txt"];
  for (const path of paths) t.match(snapshot.diff, `+++ b/${path}\n`);
  t.match(toLeftOut(snapshot), [/^e: .*worktree/]);
  const next = await carried(made, checkout);
  for (const path of paths) t.same(toBytes(next, path), toBytes(checkout, path), path);
  t.equal(toBytes(next, "e/x").toString(), "one\n", "what a worktree replaced stays");
});

t.test("submodules and nested repositories that are added by force arrive from ignored folders", async (t) => {
  const made = modulesScene(t, { ".gitignore": "vendor/\n" });
  const checkout = await made.lay("first");
  const file = ["-c", "protocol.file.allow=always"];
  const { folder } = checkout;
  inRepository(folder, ...file, "submodule", "--quiet", "add", "--force", made.library, "vendor/lib");
  for (const name of ["nested", "unadded"]) begin(folder, `vendor/${name}`, true);
  begin(folder, "vendor/nested/deep", true);
  put(folder, "vendor/nested/.gitignore", "out\n");
  put(folder, "vendor/nested/out", "ignored\n");
  inRepository(folder, "add", "--force", "vendor/nested");
  const snapshot = await readSnapshot(checkout);
  t.same(toLeftOut(snapshot), []);
  const nested = [".gitignore", "deep/in.txt", "in.txt"].map((name) => `vendor/nested/${name}`);
  t.same(listPaths(snapshot.diff), [".gitmodules", "vendor/lib", ...nested]);
  t.equal(await readChanges(await carried(made, checkout)), snapshot.diff);
});

t.test("a file outside a sparse checkout is no change; one that was changed before is named", async (t) => {
  const made = changeScene(t, { "in/a": "one\n", "out/b": "one\n", "out/c": "one\n", "out/d": "one\n" });
  const checkout = await made.lay("first");
  put(checkout.folder, "out/c", "two\n");
  put(checkout.folder, "out/new", "new\n");
  inRepository(checkout.folder, "rm", "--quiet", "out/d");
  inRepository(checkout.folder, "add", ".");
  inRepository(checkout.folder, "commit", "--quiet", "-m", "Mine");
  for (const cone of [
    ["--no-cone", "/in/"],
    ["--cone", "--sparse-index", "in"],
  ]) {
    inRepository(checkout.folder, "sparse-checkout", "set", ...cone);
    put(checkout.folder, "in/a", "two\n");
    const snapshot = await readSnapshot(checkout);
    t.same(listPaths(snapshot.diff), ["in/a", "out/d"]);
    t.match(toLeftOut(snapshot), [
      /^out\/c: .*outside the folder's sparse/,
      /^out\/new: .*outside the folder's sparse/,
    ]);
  }
  put(checkout.folder, "out/b", "two\n");
  t.same(listPaths(await readChanges(checkout)), ["in/a", "out/b", "out/d"], "a file that is there counts");
});
