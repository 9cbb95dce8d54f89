import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { applyDiff } from "../../../../http/cli/work/apply-diff.js";
import { inRepository, layRepository } from "../../../support/repository.js";

const FILES = { "a.txt": "one\n", "old.txt": "1\n2\n3\n", "gone.txt": "x\n", "[b].txt": "b\n", b: "b\n" };

/** A checkout whose branch `main` has {@link FILES}. Git ignores `logs`. */
function openCheckout(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-apply-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  layRepository(folder, FILES);
  writeFileSync(join(folder, ".git/info/exclude"), "logs\n");
  const git = (...args: readonly string[]) => inRepository(folder, ...args);
  /** Returns all files with their texts, the state of the index, the branches, and the current branch. */
  const look = () => [
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !/^\.git(\/|$)/.test(name))
      .sort()
      .map((name) => [name, name === "logs" || name === "new" ? null : readText(join(folder, name))]),
    git("status", "--porcelain", "--ignored"),
    git("branch"),
  ];
  return { folder, git, look };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/**
 * Returns a diff that changes, creates, renames and removes files, and adds the file `logs`. The name `logs` sorts
 * after most of the other names.
 */
function diffWithLogs(t: Test): string {
  const { folder, git } = openCheckout(t);
  writeFileSync(join(folder, "a.txt"), "changed\n");
  writeFileSync(join(folder, "aaa"), "added\n");
  writeFileSync(join(folder, "[b].txt"), "changed\n");
  mkdirSync(join(folder, "d/e"), { recursive: true });
  writeFileSync(join(folder, "d/e/f.txt"), "added\n");
  git("mv", "old.txt", "c.txt");
  git("rm", "--quiet", "gone.txt", "b");
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "b/in.txt"), "a folder in place of a file\n");
  writeFileSync(join(folder, "logs"), "a file\n");
  git("add", "--all", "--force");
  return git("diff", "--staged", "--binary", "--full-index", "--find-renames");
}

t.test("changes that git applied only in part are taken back, also on a new branch", (t) => {
  const diff = diffWithLogs(t);
  for (const branch of [null, "fix"]) {
    const { folder, look, git } = openCheckout(t);
    mkdirSync(join(folder, "logs"));
    writeFileSync(join(folder, "logs/x.log"), "of the person\n");
    writeFileSync(join(folder, "other.txt"), "of the person\n");
    const before = look();
    t.throws(() => git("apply", "--3way", writeDiff(t, diff)));
    t.not(git("status", "--porcelain"), "?? other.txt\n", "git itself leaves files written");
    git("reset", "--quiet", "--hard");
    git("clean", "--quiet", "-d", "--force", "--exclude=other.txt");
    t.same(look(), before);
    t.throws(() => applyDiff({ folder, diff, branch }), {
      name: "CommandError",
      message: /^git could not apply the changes, and this checkout is as before:\n[\s\S]*logs/,
    });
    t.same(look(), before);
  }
  t.end();
});

t.test("a folder of the person that was empty stays, and one that the changes brought goes", (t) => {
  const diff = diffWithLogs(t);
  const { folder } = openCheckout(t);
  for (const name of ["logs", "d"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "logs/x.log"), "of the person\n");
  t.throws(() => applyDiff({ folder, diff, branch: null }), { message: /as before/ });
  t.same(readdirSync(join(folder, "d")), []);
  t.equal(readText(join(folder, "b")), "b\n", "a file again, in place of the folder");
  t.end();
});

/** A diff that creates a file with one line. */
function toCreation(path: string): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+evil\n`;
}

t.test("nothing is written outside of the checkout through a symbolic link", (t) => {
  const outside = mkdtempSync(join(tmpdir(), "signalbox-outside-"));
  t.teardown(() => rmSync(outside, { recursive: true, force: true }));
  mkdirSync(join(outside, "in"));
  writeFileSync(join(outside, "in/kept.txt"), "of the person\n");
  const { folder, look, git } = openCheckout(t);
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub/kept.txt"), "tracked\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=sub");
  writeFileSync(join(folder, ".git/info/exclude"), "l\n");
  for (const link of ["l", "sub/l"]) symlinkSync(outside, join(folder, link));
  const before = look();
  for (const path of ["l/evil.txt", "l/in/evil.txt", "l/new/evil.txt", "sub/l/evil.txt"]) {
    for (const diff of [toCreation(path), `${toCreation("aaa")}${toCreation(path)}`]) {
      t.throws(() => applyDiff({ folder, diff, branch: "fix" }), {
        name: "CommandError",
        message: `the symbolic link "${path.startsWith("sub") ? "sub/l" : "l"}", which is not followed`,
      });
    }
  }
  const rename = "diff --git a/a.txt b/l/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to l/b.txt\n";
  t.throws(() => applyDiff({ folder, diff: rename, branch: null }), { message: /symbolic link "l"/ });
  t.same(look(), before);
  renameSync(join(folder, "sub"), join(folder, ".git/sub"));
  symlinkSync(join(outside, "in"), join(folder, "sub"));
  t.throws(() => applyDiff({ folder, diff: toCreation("sub/evil.txt"), branch: null }), { message: /link "sub"/ });
  t.same(readdirSync(outside, { recursive: true, encoding: "utf8" }).sort(), ["in", "in/kept.txt"]);
  t.end();
});

t.test("changes may replace a symbolic link of the repository with a folder", (t) => {
  const { folder, git } = openCheckout(t);
  symlinkSync("b", join(folder, "l"));
  git("add", "l");
  git("commit", "--quiet", "--message=link");
  rmSync(join(folder, "l"));
  mkdirSync(join(folder, "l"));
  writeFileSync(join(folder, "l/x.txt"), "x\n");
  git("add", "--all");
  const diff = git("diff", "--staged", "--binary", "--full-index");
  git("reset", "--quiet", "--hard");
  t.same(applyDiff({ folder, diff, branch: null }).files, ["l", "l/x.txt"]);
  t.equal(readText(join(folder, "l/x.txt")), "x\n");
  t.end();
});

t.test("paths outside of the checkout and in .git are refused", (t) => {
  const { folder, look } = openCheckout(t);
  const before = look();
  const outside = join(folder, "../evil.txt");
  for (const path of ["../evil.txt", "d/../../evil.txt", outside, ".git/hooks/post-checkout", "d/.GIT/config"]) {
    t.throws(() => applyDiff({ folder, diff: toCreation(path), branch: "fix" }), {
      name: "CommandError",
      message: `the changes name ${JSON.stringify(path)}, which cannot be a file of a checkout`,
    });
  }
  t.same(look(), before);
  t.equal(readText(outside), null);
  t.equal(readText(join(folder, ".git/hooks/post-checkout")), null);
  t.end();
});

t.test("local changes that git hides are refused and stay", (t) => {
  const diff = diffWithLogs(t);
  for (const flag of ["--assume-unchanged", "--skip-worktree"]) {
    const { folder, git } = openCheckout(t);
    mkdirSync(join(folder, "logs"));
    writeFileSync(join(folder, "logs/x.log"), "of the person\n");
    git("update-index", flag, "a.txt", "[b].txt");
    writeFileSync(join(folder, "a.txt"), "of the person\n");
    t.equal(git("status", "--porcelain"), "", flag);
    for (const branch of [null, "fix"]) {
      t.throws(() => applyDiff({ folder, diff, branch }), {
        name: "CommandError",
        message: /git hides local changes of "\[b\]\.txt", "a\.txt" \(assume-unchanged or skip-worktree\)/,
      });
    }
    t.equal(readText(join(folder, "a.txt")), "of the person\n");
    t.match(git("branch"), /^\* main\n$/);
  }
  t.end();
});

/** Writes a diff to a file; returns the path. */
function writeDiff(t: Test, diff: string): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-diff-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "diff");
  writeFileSync(path, diff);
  return path;
}
