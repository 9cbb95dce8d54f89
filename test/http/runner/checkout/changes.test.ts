import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { changesOf } from "../../../../http/runner/checkout/changes.js";
import { type Checkout, createCheckout } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { inRepository } from "../run-scene.js";

const { signal } = new AbortController();
const read = (checkout: Checkout, maxBytes = 1_000_000) => changesOf(checkout, { signal, maxBytes });

interface Scene {
  readonly folder: string;
  readonly repository: string;
  readonly git: (...args: string[]) => string;
  /** Lays out `acme/app` in a folder of its own. */
  readonly lay: (name: string, more?: { base?: string; diff?: string; url?: string }) => Promise<Checkout>;
}

function scene(t: Test, files: Readonly<Record<string, string | Buffer>>): Scene {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-changes-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const repository = join(folder, "repositories/acme/app");
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]) => inRepository(repository, ...args);
  git("init", "--quiet", "--initial-branch", "main");
  for (const [name, content] of Object.entries(files)) writeFileSync(join(repository, name), content);
  git("add", ".");
  git("commit", "--quiet", "-m", "Begin");
  const lay: Scene["lay"] = (name, { base = null, diff = "", url = join(folder, "repositories/{name}") } = {}) => {
    const mirrors = new Mirrors({ workFolder: join(folder, `work-${name}`), gitUrl: url });
    const wanted = { repository: "acme/app", setup: null, image: null, base, diff };
    return createCheckout(mirrors, wanted, {
      folder: join(folder, name),
      record: join(folder, `${name}.record`),
      signal,
    });
  };
  return { folder, repository, git, lay };
}

/** What a checkout changed, laid out somewhere else. */
async function carried({ lay }: Scene, checkout: Checkout): Promise<Checkout> {
  return lay("carried", { base: checkout.base, diff: await read(checkout) });
}

const bytesOf = (checkout: Checkout, name: string) => readFileSync(join(checkout.folder, name));

t.test("files that are neither UTF-8 nor binary to git are carried byte for byte, others stay readable", async (t) => {
  const latin = (text: string) => Buffer.from(text, "latin1");
  const made = scene(t, {
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
  // The repository says that it is text; a diff of it would not survive as text all the same.
  writeFileSync(join(checkout.folder, ".gitattributes"), "*.txt diff\n");
  const diff = await read(checkout);
  t.match(diff, "+two\n");
  t.match(diff, "+diff --git a/x b/x\n");
  t.match(diff, /rename from old\.txt/);
  t.equal(diff.match(/GIT binary patch/g)?.length, 1);
  const second = await carried(made, checkout);
  for (const name of ["a.txt", "latin.txt", "z.txt", "moved.txt"])
    t.same(bytesOf(second, name), bytesOf(checkout, name), name);
  t.notOk(existsSync(join(second.folder, "old.txt")));
  t.equal(await read(second), diff);
});

t.test("the agent's own git directory has no say in what changed", async (t) => {
  const made = scene(t, { "a.txt": "one\n" });
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
  const made = scene(t, { ".gitignore": "*.log\n" });
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

t.test("repositories that the agent made inside are left out, and spoil nothing", async (t) => {
  const { lay } = scene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  for (const name of ["empty", "cloned"]) {
    mkdirSync(join(checkout.folder, name));
    inRepository(join(checkout.folder, name), "init", "--quiet");
  }
  inRepository(join(checkout.folder, "cloned"), "commit", "--quiet", "--allow-empty", "-m", "Theirs");
  writeFileSync(join(checkout.folder, "new.txt"), "new\n");
  const diff = await read(checkout);
  t.match(diff, "+new\n");
  t.notMatch(diff, /Subproject|cloned|empty/);
});

t.test("line ends that a repository converts are no changes", async (t) => {
  const { lay } = scene(t, { "a.txt": "one\r\ntwo\r\n", "b.txt": "one\n", ".gitattributes": "b.txt eol=crlf\n" });
  const checkout = await lay("first");
  t.equal(bytesOf(checkout, "b.txt").toString(), "one\r\n");
  t.equal(await read(checkout), "");
});

t.test("a diff longer than is asked for is an error of its own", async (t) => {
  const { lay } = scene(t, { "a.txt": "one\n" });
  const checkout = await lay("first");
  writeFileSync(join(checkout.folder, "long.txt"), "x\n".repeat(100_000));
  await t.rejects(read(checkout, 10_000), { name: "OutputTooLong" });
  t.ok((await read(checkout)).length > 200_000);
});

t.test("a head that is on no branch, and a commit that its branch has left, are found", async (t) => {
  const { git, lay } = scene(t, { "a.txt": "one\n" });
  git("checkout", "--quiet", "--detach");
  git("commit", "--quiet", "--allow-empty", "-m", "Apart");
  const apart = git("rev-parse", "HEAD").trim();
  t.equal((await lay("first")).base, apart);
  t.equal((await lay("second", { base: apart })).base, apart);
  await t.rejects(lay("third", { base: "1".repeat(40) }), /is not in the repository/);
});

t.test("a repository that is a shallow clone itself serves as well", async (t) => {
  const { folder, git, lay } = scene(t, { "a.txt": "one\n" });
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
  const { folder, git, lay } = scene(t, { "a.txt": "one\n" });
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
