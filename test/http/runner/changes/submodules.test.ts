import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { inRepository } from "../../../support/repository.js";
import { readChanges, readSnapshot, toLeftOut } from "../read-changes.js";
import { carried, listPaths, put, toBytes } from "./change-scene.js";
import { modulesScene } from "./modules-scene.js";

/**
 * Tests that a submodule either arrives completely, as a commit that other people can fetch, or does not arrive at all.
 */

t.test("a new submodule at a commit of its remote arrives with the lines that name it, and is handed on", async (t) => {
  const made = modulesScene(t);
  const checkout = await made.lay("first");
  made.add(checkout, "lib");
  const snapshot = await readSnapshot(checkout);
  t.same(snapshot.leftOut, []);
  t.same(listPaths(snapshot.diff), [".gitmodules", "lib"]);
  const commit = inRepository(made.library, "rev-parse", "HEAD").trim();
  t.match(snapshot.diff, `+Subproject commit ${commit}`);
  const next = await carried(made, checkout);
  t.same(toBytes(next, ".gitmodules"), toBytes(checkout, ".gitmodules"));
  t.ok(existsSync(join(next.folder, "lib")), "as an empty folder, like every submodule of a checkout");
  t.equal(await readChanges(next), snapshot.diff, "which the next run changes nothing of");
});

t.test("one that is not whole is left out with its lines, and the others stay", async (t) => {
  const made = modulesScene(t);
  const checkout = await made.lay("first");
  for (const path of ["whole", "changed", "unpushed", "unborn"]) made.add(checkout, path);
  put(checkout.folder, "changed/new.txt", "lost\n");
  put(checkout.folder, "unpushed/new.txt", "lost\n");
  inRepository(join(checkout.folder, "unpushed"), "add", ".");
  inRepository(join(checkout.folder, "unpushed"), "commit", "--quiet", "-m", "Mine");
  rmSync(join(checkout.folder, ".git/modules/unborn/HEAD"));
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), [".gitmodules", "unborn/.gitattributes", "unborn/lib.txt", "whole"]);
  t.match(toLeftOut(snapshot), [
    /^changed: .*uncommitted/,
    /^unborn: .*that section is ignored/,
    /^unpushed: .*none of its remote's branches/,
  ]);
  const next = await carried(made, checkout);
  const named = readFileSync(join(next.folder, ".gitmodules"), "utf8");
  t.match(named, /path = whole/);
  t.notMatch(named, /changed|unborn|unpushed/);
});

t.test("without any that is whole no lines arrive", async (t) => {
  const made = modulesScene(t);
  const checkout = await made.lay("first");
  made.add(checkout, "lib");
  put(checkout.folder, "lib/new.txt", "lost\n");
  const snapshot = await readSnapshot(checkout);
  t.equal(snapshot.diff, "");
  t.match(toLeftOut(snapshot), [/^lib: /]);
});

t.test(
  "one that the repository has: moved, changed inside, filled without a checkout, made files, removed",
  async (t) => {
    const made = modulesScene(t);
    const file = ["-c", "protocol.file.allow=always"];
    for (const path of ["moved", "stale", "inside", "filled", "files", "gone", "kept"]) {
      inRepository(made.repository, ...file, "submodule", "--quiet", "add", made.library, path);
    }
    inRepository(made.repository, "commit", "--quiet", "-m", "Submodules");
    put(made.library, "lib.txt", "newer\n");
    inRepository(made.library, "commit", "--quiet", "-am", "Newer");
    const newer = inRepository(made.library, "rev-parse", "HEAD").trim();
    const checkout = await made.lay("first");
    t.equal(await readChanges(checkout), "", "none is checked out");
    const paths = ["moved", "stale", "inside", "files", "kept"];
    inRepository(checkout.folder, ...file, "submodule", "--quiet", "update", "--init", ...paths);
    t.equal(await readChanges(checkout), "", "some are");
    const inside = (path: string, ...args: string[]) => inRepository(join(checkout.folder, path), ...args);
    inside("moved", "checkout", "--quiet", newer);
    inside("stale", "commit", "--quiet", "--allow-empty", "-m", "Mine");
    put(checkout.folder, "inside/lib.txt", "lost\n");
    put(checkout.folder, "filled/new.txt", "lost\n");
    inRepository(checkout.folder, "rm", "--quiet", "gone");
    inRepository(checkout.folder, "rm", "--quiet", "--cached", "files");
    inRepository(checkout.folder, "config", "--file", ".gitmodules", "--remove-section", "submodule.files");
    const snapshot = await readSnapshot(checkout);
    t.match(toLeftOut(snapshot), [
      /^filled: .*not checked out/,
      /^inside: .*uncommitted/,
      /^stale: .*none of its remote's/,
    ]);
    t.same(listPaths(snapshot.diff), [
      ".gitmodules",
      "files",
      "files/.gitattributes",
      "files/lib.txt",
      "gone",
      "moved",
    ]);
    t.match(snapshot.diff, `+Subproject commit ${newer}`);
    const next = await carried(made, checkout);
    t.equal(toBytes(next, "files/lib.txt").toString(), "library\n");
    t.equal(await readChanges(next), snapshot.diff);
  },
);

t.test("nothing that a submodule or an inner repository is configured with runs", async (t) => {
  const made = modulesScene(t);
  const checkout = await made.lay("first");
  made.add(checkout, "lib");
  const trap = join(made.folder, "trap");
  put(made.folder, "trap", `#!/bin/sh\necho ran >> ${made.folder}/sprung\ncat\n`);
  chmodSync(trap, 0o755);
  const config = `[core]\n\tfsmonitor = ${trap}\n\thooksPath = ${made.folder}\n\tsshCommand = ${trap}\n[filter "evil"]\n\tclean = ${trap}\n\tprocess = ${trap}\n\trequired = true\n[remote "origin"]\n\tuploadpack = ${trap}\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n`;
  for (const at of [".git", ".git/modules/lib"]) {
    put(checkout.folder, `${at}/config`, `${readFileSync(join(checkout.folder, at, "config"), "utf8")}${config}`);
    put(checkout.folder, `${at}/info/attributes`, "* filter=evil\n");
  }
  mkdirSync(join(checkout.folder, "inner"));
  inRepository(join(checkout.folder, "inner"), "init", "--quiet");
  put(checkout.folder, "inner/.git/config", config);
  put(checkout.folder, "inner/x.txt", "x\n");
  put(checkout.folder, "lib/lib.txt", "changed\n");
  put(checkout.folder, ".gitattributes", "* filter=evil\n");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), [".gitattributes", "inner/x.txt"]);
  t.match(toLeftOut(snapshot), [/^lib: /]);
  t.notOk(existsSync(join(made.folder, "sprung")));
});
