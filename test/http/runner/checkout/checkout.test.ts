import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Job } from "../../../../actors/runners/job.js";
import { type Checkout, createCheckout } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { inRepository, layRepository } from "../../../support/repository.js";
import { readChanges } from "../read-changes.js";

const { signal } = new AbortController();

/** Makes checkouts from the mirrors of one work folder. */
class Checkouts {
  readonly #mirrors: Mirrors;

  constructor(options: { readonly workFolder: string; readonly gitUrl: string }) {
    this.#mirrors = new Mirrors(options);
  }

  layOut(wanted: Job["checkouts"][number], folder: string): Promise<Checkout> {
    return createCheckout(this.#mirrors, wanted, { folder, record: `${folder}.record`, signal });
  }
}

interface Scene {
  readonly folder: string;
  readonly repository: string;
  readonly checkouts: Checkouts;
  readonly git: (...args: string[]) => string;
}

function scene(t: Test): Scene {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-checkout-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const repository = join(folder, "repositories/acme/app");
  layRepository(repository, { "a.txt": "one\n", "b.txt": "two\n", ".gitignore": "ignored\n" });
  const git = (...args: string[]) => inRepository(repository, ...args);
  const checkouts = new Checkouts({ workFolder: join(folder, "work"), gitUrl: join(folder, "repositories/{name}") });
  return { folder, repository, checkouts, git };
}

const wanted = (more: { base?: string | null; diff?: string; repository?: string } = {}) => ({
  repository: "acme/app",
  setup: null,
  image: null,
  base: null,
  diff: "",
  ...more,
});

/** Changes a checkout: changes, removes and adds files, including a binary file, a program and a symlink. */
function change({ folder }: Checkout): void {
  writeFileSync(join(folder, "a.txt"), "one\nmore\n");
  rmSync(join(folder, "b.txt"));
  mkdirSync(join(folder, "new folder"));
  writeFileSync(join(folder, "new folder/ünïcode.txt"), "no newline at the end");
  writeFileSync(join(folder, "binary"), Buffer.from([0, 255, 1, 2, 0, 10, 13]));
  writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(folder, "run.sh"), 0o755);
  symlinkSync("a.txt", join(folder, "link"));
  writeFileSync(join(folder, "ignored"), "not part of it");
}

t.test("what changed in every way is carried to the next checkout, byte for byte", async (t) => {
  const { folder, checkouts, git } = scene(t);
  const first = await checkouts.layOut(wanted(), join(folder, "first"));
  t.equal(first.base, git("rev-parse", "HEAD").trim());
  t.equal(await readChanges(first), "", "nothing at first");
  change(first);
  const diff = await readChanges(first);
  // The branch gets a new commit meanwhile, but the task stays at its base.
  git("commit", "--allow-empty", "-m", "Later");
  const second = await checkouts.layOut(wanted({ base: first.base, diff }), join(folder, "second"));
  t.equal(second.base, first.base);
  for (const name of ["a.txt", "new folder/ünïcode.txt", "binary", "run.sh", "link"]) {
    t.same(readFileSync(join(second.folder, name)), readFileSync(join(first.folder, name)), name);
  }
  t.notOk(existsSync(join(second.folder, "b.txt")));
  t.notOk(existsSync(join(second.folder, "ignored")));
  t.equal(await readChanges(second), diff, "and gives the same diff again");
});

t.test("what the agent committed itself is part of the diff too, and nothing is pushed", async (t) => {
  const { folder, checkouts, git } = scene(t);
  const checkout = await checkouts.layOut(wanted(), join(folder, "first"));
  writeFileSync(join(checkout.folder, "c.txt"), "three\n");
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", "add", "."], { cwd: checkout.folder });
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "mine"], { cwd: checkout.folder });
  t.match(await readChanges(checkout), /\+three/);
  t.equal(git("rev-list", "--all", "--count").trim(), "1");
});

t.test("a new commit is fetched; one that is there needs no repository", async (t) => {
  const { folder, checkouts, git, repository } = scene(t);
  const first = await checkouts.layOut(wanted(), join(folder, "first"));
  writeFileSync(join(repository, "a.txt"), "changed\n");
  git("commit", "-qam", "Change");
  const second = await checkouts.layOut(wanted(), join(folder, "second"));
  t.not(second.base, first.base);
  rmSync(repository, { recursive: true });
  const third = await checkouts.layOut(wanted({ base: first.base }), join(folder, "third"));
  t.equal(third.base, first.base);
  await t.rejects(checkouts.layOut(wanted({ base: "0".repeat(40) }), join(folder, "fourth")), { name: "GitFailed" });
});

t.test("several checkouts of one repository at once do not disturb each other", async (t) => {
  const { folder, checkouts } = scene(t);
  const all = await Promise.all([1, 2, 3, 4].map((n) => checkouts.layOut(wanted(), join(folder, `c${n}`))));
  t.equal(new Set(all.map(({ base }) => base)).size, 1);
});

t.test("hooks of a repository are not run", async (t) => {
  const { folder, checkouts } = scene(t);
  const checkout = await checkouts.layOut(wanted(), join(folder, "first"));
  const hook = join(checkout.folder, ".git/hooks/post-checkout");
  mkdirSync(join(checkout.folder, ".git/hooks"));
  writeFileSync(hook, `#!/bin/sh\ntouch ${folder}/ran\n`);
  chmodSync(hook, 0o755);
  writeFileSync(join(checkout.folder, ".git/config"), `[core]\n\tfsmonitor = "touch ${folder}/ran; false"\n`, {
    flag: "a",
  });
  await readChanges(checkout);
  t.notOk(existsSync(join(folder, "ran")));
});

t.test("names that would lead elsewhere are refused, and a diff that does not fit is an error", async (t) => {
  const { folder, checkouts } = scene(t);
  for (const repository of ["../evil", "a/..", "a/../b", "--upload-pack=x/y", "a/b/c", "acme", "", "acme/.git"]) {
    await t.rejects(
      checkouts.layOut(wanted({ repository }), join(folder, "x")),
      /is no repository's owner\/name/,
      repository,
    );
  }
  await t.rejects(checkouts.layOut(wanted({ repository: "acme/absent" }), join(folder, "absent")), {
    name: "GitFailed",
  });
  await t.rejects(checkouts.layOut(wanted({ diff: "no diff at all\n" }), join(folder, "y")), { name: "GitFailed" });
});

t.test("who waits for a mirror and is told to end does not wait on, and the next one gets its turn", async (t) => {
  const { folder } = scene(t);
  const mirrors = new Mirrors({ workFolder: join(folder, "work"), gitUrl: join(folder, "repositories/{name}") });
  const wanted = { repository: "acme/app", base: null };
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const first = mirrors.from({ ...wanted, signal }, () => held);
  const told = new AbortController();
  const waiting = mirrors.from({ ...wanted, signal: told.signal }, async () => t.fail("it never has its turn"));
  const last = mirrors.from({ ...wanted, signal }, async () => "had its turn");
  told.abort();
  await t.rejects(waiting, { name: "GitFailed", message: /aborted/ });
  const late = mirrors.from({ ...wanted, signal: told.signal }, async () => t.fail("it never has its turn"));
  letGo();
  await first;
  t.equal(await last, "had its turn");
  await t.rejects(late, { name: "GitFailed", message: /aborted/ });
});
