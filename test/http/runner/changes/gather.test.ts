import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Checkout } from "../../../../http/runner/checkout/checkout.js";
import { inRepository } from "../../../support/repository.js";
import { readChanges } from "../read-changes.js";
import { carried, changeScene, toBytes } from "./change-scene.js";

const read = (checkout: Checkout): Promise<string> => readChanges(checkout);

t.test("files that are neither UTF-8 nor binary to git are carried byte for byte, others stay readable", async (t) => {
  const latin = (text: string) => Buffer.from(text, "latin1");
  const made = changeScene(t, {
    "a.txt": "one\n",
    "latin.txt": latin("caf\xe9\n"),
    "z.txt": "zett\n",
    "old.txt": latin("\xe9\n"),
  });
  const checkout = await made.lay("first");
  writeFileSync(join(checkout.folder, "a.txt"), "one\ntwo\n");
  writeFileSync(join(checkout.folder, "latin.txt"), latin("caf\xe9\nna\xefve\n"));
  writeFileSync(join(checkout.folder, "z.txt"), "zett\nmore\ndiff --git a/x b/x\n");
  renameSync(join(checkout.folder, "old.txt"), join(checkout.folder, "moved.txt"));
  // The repository declares `latin.txt` as text. Its diff must still be a binary patch, because the bytes of the file
  // are not UTF-8.
  writeFileSync(join(checkout.folder, ".gitattributes"), "*.txt diff\n");
  const diff = await read(checkout);
  t.match(diff, "+two\n");
  t.match(diff, "+diff --git a/x b/x\n");
  t.match(diff, /rename from old\.txt/);
  t.equal(diff.match(/GIT binary patch/g)?.length, 1);
  const second = await carried(made, checkout);
  for (const name of ["a.txt", "latin.txt", "z.txt", "moved.txt"])
    t.same(toBytes(second, name), toBytes(checkout, name), name);
  t.notOk(existsSync(join(second.folder, "old.txt")));
  t.equal(await read(second), diff);
});

t.test("the agent's own git directory has no say in what changed", async (t) => {
  const made = changeScene(t, { "a.txt": "one\n" });
  const checkout = await made.lay("first");
  const theirs = join(checkout.folder, ".git");
  const evil = join(made.folder, "evil");
  writeFileSync(join(checkout.folder, ".gitattributes"), "* filter=evil diff=evil\n");
  const config = [
    "[core]",
    "worktree = /",
    `fsmonitor = touch ${evil}`,
    '[filter "evil"]',
    `clean = touch ${evil}; cat`,
  ];
  writeFileSync(join(theirs, "config"), [...config, '[diff "evil"]', `textconv = touch ${evil}; cat`, ""].join("\n"));
  mkdirSync(join(theirs, "info"), { recursive: true });
  writeFileSync(join(theirs, "info/exclude"), "*\n");
  writeFileSync(join(checkout.folder, "new.txt"), "new\n");
  t.match(await read(checkout), "+new\n");
  t.notOk(existsSync(evil));
  rmSync(theirs, { recursive: true });
  t.match(await read(checkout), "+new\n", "without one it is the same");
});

t.test("what is ignored is left out, unless the agent or a run before added it by force", async (t) => {
  const made = changeScene(t, { ".gitignore": "*.log\n" });
  const checkout = await made.lay("first");
  writeFileSync(join(checkout.folder, "kept.log"), "kept\n");
  writeFileSync(join(checkout.folder, "other.log"), "other\n");
  inRepository(checkout.folder, "add", "--force", "kept.log");
  inRepository(checkout.folder, "commit", "--quiet", "-m", "Keep it");
  const diff = await read(checkout);
  t.match(diff, "+kept\n");
  t.notMatch(diff, "other");
  t.equal(await read(await carried(made, checkout)), diff, "the next run does not lose it");
});

t.test("line ends that a repository converts are no changes", async (t) => {
  const { lay } = changeScene(t, { "a.txt": "one\r\ntwo\r\n", "b.txt": "one\n", ".gitattributes": "b.txt eol=crlf\n" });
  const checkout = await lay("first");
  t.equal(toBytes(checkout, "b.txt").toString(), "one\r\n");
  t.equal(await read(checkout), "");
});

t.test("a head that is on no branch, and a commit that its branch has left, are found", async (t) => {
  const { git, lay } = changeScene(t, { "a.txt": "one\n" });
  git("checkout", "--quiet", "--detach");
  git("commit", "--quiet", "--allow-empty", "-m", "Apart");
  const apart = git("rev-parse", "HEAD").trim();
  t.equal((await lay("first")).base, apart);
  t.equal((await lay("second", { base: apart })).base, apart);
  await t.rejects(lay("third", { base: "1".repeat(40) }), /is not in the repository/);
});

t.test("a repository that is a shallow clone itself serves as well", async (t) => {
  const { folder, git, lay } = changeScene(t, { "a.txt": "one\n" });
  git("commit", "--quiet", "--allow-empty", "-m", "Later");
  execFileSync("git", [
    "clone",
    "--quiet",
    "--depth",
    "1",
    `file://${folder}/repositories/acme/app`,
    join(folder, "acme/app-shallow"),
  ]);
  const checkout = await lay("first", { url: join(folder, "{name}-shallow") });
  t.equal(checkout.base, git("rev-parse", "HEAD").trim());
  writeFileSync(join(checkout.folder, "a.txt"), "two\n");
  t.match(await read(checkout), "-one\n+two\n");
});

t.test("nothing of the address stays where the agent can read it, and pushing goes nowhere", async (t) => {
  const { folder, git, lay } = changeScene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  t.notMatch(readFileSync(join(checkout.folder, ".git/config"), "utf8"), "repositories");
  inRepository(checkout.folder, "commit", "--quiet", "--allow-empty", "-m", "Mine");
  t.throws(() => inRepository(checkout.folder, "push", "--quiet", "origin", "HEAD:main"));
  t.equal(git("rev-list", "--count", "--all").trim(), "1");
  const error = await lay("second", { url: "http://user:pass-word@127.0.0.1:1/{name}" }).catch((thrown) => thrown);
  t.match(error, { name: "GitFailed", message: /127\.0\.0\.1/ });
  t.notMatch(error.message, "pass-word");
  const kept = readdirSync(join(folder, "work-second"), { recursive: true, withFileTypes: true });
  const texts = kept
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  t.ok(texts.length > 0);
  t.notMatch(texts.join("\n"), "pass-word");
});
