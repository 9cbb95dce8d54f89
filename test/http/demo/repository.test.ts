import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { createRepository } from "../../../http/demo/repository.js";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
    cwd,
    encoding: "utf8",
  }).trim();

function toFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-repository-"));
  t.teardown(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test("a checkout that is on no branch is cloned at its commit, on a branch that a code host can have", async (t) => {
  const folder = toFolder(t);
  git(folder, "init", "--quiet", "--initial-branch", "work", "checkout");
  const checkout = join(folder, "checkout");
  for (const text of ["one", "two"]) {
    writeFileSync(join(checkout, "a.txt"), text);
    git(checkout, "add", "a.txt");
    git(checkout, "commit", "--quiet", "--message", text);
  }
  const onBranch = createRepository(checkout, join(folder, "on-branch.git"));
  t.equal(onBranch.commits, 2);
  t.equal(git(join(folder, "on-branch.git"), "symbolic-ref", "HEAD"), "refs/heads/work");
  git(checkout, "checkout", "--quiet", "HEAD^");
  const at = join(folder, "acme/project.git");
  t.same(createRepository(checkout, at), { from: `a clone of ${checkout}`, commits: 1 });
  t.equal(git(at, "symbolic-ref", "HEAD"), "refs/heads/main");
  t.equal(git(at, "show", "main:a.txt"), "one");
});

t.test("of a large checkout, agents get the documentation, on top of its whole history", async (t) => {
  const folder = toFolder(t);
  git(folder, "init", "--quiet", "--initial-branch", "main", "checkout");
  const checkout = join(folder, "checkout");
  for (const path of ["README.md", "docs/a.md", "docs/deep/b.txt", "source/a.ts", "LICENSE"]) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), path);
  }
  git(checkout, "add", ".");
  git(checkout, "commit", "--quiet", "--message", "Begin");
  const at = join(folder, "acme/project.git");
  const { from } = createRepository(checkout, at);
  t.equal(from, `a clone of ${checkout}, only its documentation`);
  t.equal(git(at, "ls-tree", "-r", "--name-only", "main"), "README.md\ndocs/a.md\ndocs/deep/b.txt");
  t.equal(git(at, "rev-list", "--count", "main"), "2");
});

t.test("where there is no checkout a small one is made, and nothing is left beside it", async (t) => {
  const folder = toFolder(t);
  const at = join(folder, "acme/project.git");
  t.same(createRepository(folder, at), { from: "made for the demo", commits: 2 });
  t.equal(git(at, "rev-parse", "--is-bare-repository"), "true");
  t.same(readdirSync(join(folder, "acme")), ["project.git"]);
});
