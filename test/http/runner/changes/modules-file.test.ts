import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Checkout } from "../../../../http/runner/checkout/checkout.js";
import { inRepository } from "../../../support/repository.js";
import { readChanges, readSnapshot, toLeftOut } from "../read-changes.js";
import { carried, listPaths, put, toBytes } from "./change-scene.js";
import { type ModulesScene, modulesScene } from "./modules-scene.js";

/**
 * Tests changes of `.gitmodules`. Whatever the file says, the snapshot loses no unchanged submodule, and contains each
 * submodule completely or not at all.
 */

const file = ["-c", "protocol.file.allow=always"];

/** Creates a repository with the library as the submodule `sub`. */
function withSubmodule(t: Test): ModulesScene {
  const made = modulesScene(t);
  inRepository(made.repository, ...file, "submodule", "--quiet", "add", made.library, "sub");
  inRepository(made.repository, "commit", "--quiet", "-m", "Submodule");
  return made;
}

t.test(
  "a `.gitmodules` that is no readable file, or that git cannot parse, loses no submodule and no run",
  async (t) => {
    const made = withSubmodule(t);
    const checkout = await made.lay("first");
    const at = join(checkout.folder, ".gitmodules");
    const original = toBytes(checkout, ".gitmodules");
    put(checkout.folder, "a.txt", "two\n");
    const states: Record<string, { paths: string[]; make: () => void }> = {
      "merge conflict": {
        paths: [".gitmodules", "a.txt"],
        make: () => put(checkout.folder, ".gitmodules", "<<<<<<< a [\n"),
      },
      link: { paths: ["a.txt"], make: () => symlinkSync("a.txt", at) },
      folder: {
        paths: [".gitmodules", ".gitmodules/x", "a.txt"],
        make: () => put(checkout.folder, ".gitmodules/x", "x\n"),
      },
      huge: {
        paths: [".gitmodules", "a.txt"],
        make: () => put(checkout.folder, ".gitmodules", "# x\n".repeat(1_100_000)),
      },
      removed: { paths: [".gitmodules", "a.txt"], make: () => undefined },
    };
    for (const [name, { paths, make }] of Object.entries(states)) {
      rmSync(at, { recursive: true, force: true });
      make();
      const snapshot = await readSnapshot(checkout);
      t.same([...new Set(listPaths(snapshot.diff))], paths, name);
      t.match(toLeftOut(snapshot), name === "link" ? [/^\.gitmodules: /] : [], name);
    }
    put(checkout.folder, ".gitmodules", `${original}garbage [\n`);
    t.equal(
      await readChanges(await carried(made, checkout)),
      await readChanges(checkout),
      "the next run can start from it",
    );
  },
);

t.test("a submodule whose changes `.gitmodules` hides arrives", async (t) => {
  const made = withSubmodule(t);
  inRepository(made.library, "commit", "--quiet", "--allow-empty", "-m", "Newer");
  const checkout = await made.lay("first");
  inRepository(checkout.folder, ...file, "submodule", "--quiet", "update", "--init", "--remote");
  inRepository(checkout.folder, "config", "--file", ".gitmodules", "submodule.sub.ignore", "all");
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), [".gitmodules", "sub"]);
  t.same(snapshot.changed, [".gitmodules", "sub"]);
});

t.test("a new section without its submodule is not taken, and named; the files there are", async (t) => {
  const made = modulesScene(t);
  const checkout = await made.lay("first");
  made.add(checkout, "vendored");
  rmSync(join(checkout.folder, "vendored/.git"));
  put(checkout.folder, "plain/x", "x\n");
  for (const path of ["plain", "absent", "../outside", "a.txt"]) {
    const key = `submodule.${path}`;
    inRepository(checkout.folder, "config", "--file", ".gitmodules", `${key}.path`, path);
    inRepository(checkout.folder, "config", "--file", ".gitmodules", `${key}.url`, made.library);
  }
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), ["plain/x", "vendored/.gitattributes", "vendored/lib.txt"]);
  const named = ["../outside", "a.txt", "absent", "plain", "vendored"];
  t.same(
    toLeftOut(snapshot).map((line) => line.split(": ")[0]),
    named,
  );
});

t.test("a submodule at a commit of another repository than its URL is left out", async (t) => {
  const made = withSubmodule(t);
  const other = join(made.folder, "other");
  mkdirSync(other);
  inRepository(other, "init", "--quiet");
  inRepository(other, "commit", "--quiet", "--allow-empty", "-m", "Other");
  const checkout = await made.lay("first");
  const clone = (from: string, to: string) => inRepository(checkout.folder, ...file, "clone", "--quiet", from, to);
  rmSync(join(checkout.folder, "sub"), { recursive: true });
  clone(other, "sub");
  made.add(checkout, "lib");
  inRepository(checkout.folder, "config", "--file", ".gitmodules", "submodule.lib.url", `file://${other}.git/`);
  made.add(checkout, "same");
  inRepository(checkout.folder, "config", "--file", ".gitmodules", "submodule.same.url", `file://${made.library}.git/`);
  const snapshot = await readSnapshot(checkout);
  t.same(listPaths(snapshot.diff), [".gitmodules", "same"]);
  t.match(toLeftOut(snapshot), [/^lib: .*not from its URL/, /^sub: .*not from its URL/]);
});

t.test("a moved submodule arrives at its new path, or stays at its old one", async (t) => {
  const made = withSubmodule(t);
  const move = (checkout: Checkout) => inRepository(checkout.folder, "mv", "sub", "moved");
  const empty = await made.lay("first");
  move(empty);
  const moved = await readSnapshot(empty);
  t.match([moved.leftOut, moved.diff], [[], /rename from sub\nrename to moved\n/]);
  const changed = await made.lay("second");
  inRepository(changed.folder, ...file, "submodule", "--quiet", "update", "--init");
  move(changed);
  put(changed.folder, "moved/new.txt", "lost\n");
  const stayed = await readSnapshot(changed);
  t.equal(stayed.diff, "");
  t.match(toLeftOut(stayed), [/^moved: .*uncommitted/]);
});
