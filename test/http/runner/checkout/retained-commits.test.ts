import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { createCheckout } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { CommitHolds, listRetained, releaseCommit } from "../../../../http/runner/checkout/retained-commits.js";
import { inRepository, layRepository } from "../../../support/repository.js";

const { signal } = new AbortController();
const repository = "acme/app";

function scene(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-kept-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const remote = join(folder, "repositories/acme/app");
  layRepository(remote);
  const git = (...args: string[]) => inRepository(remote, ...args);
  const mirrors = new Mirrors({ workFolder: join(folder, "work"), gitUrl: join(folder, "repositories/{name}") });
  const lay = (name: string, base: string | null = null, diff = "") =>
    createCheckout(
      mirrors,
      { repository, setup: null, image: null, base, diff },
      { folder: join(folder, name), record: join(folder, `${name}.record`), signal },
    );
  return { remote, git, mirrors, lay, mirror: join(folder, "work/mirrors/acme/app.git") };
}

/** Replaces the history of `main`, as after a force push, and removes the old commits. */
function replaceHistory({ git, remote }: ReturnType<typeof scene>): void {
  git("checkout", "--quiet", "--orphan", "new");
  writeFileSync(join(remote, "a.txt"), "another\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Anew");
  git("branch", "--quiet", "-D", "main");
  git("branch", "-m", "main");
  git("reflog", "expire", "--expire=now", "--all");
  git("gc", "--quiet", "--prune=now");
}

t.test("what a run began from stays in the mirror when its branch is pushed by force, and git collects", async (t) => {
  const made = scene(t);
  const { base } = await made.lay("first");
  replaceHistory(made);
  const second = await made.lay("second");
  t.not(second.base, base);
  t.same(new Set(await listRetained(made.mirror, signal)), new Set([base, second.base]));
  inRepository(made.mirror, "gc", "--quiet", "--prune=now");
  t.equal((await made.lay("third", base)).base, base, "and can be checked out again");
  await releaseCommit(made.mirror, base, signal);
  await releaseCommit(made.mirror, base, signal);
  t.same(await listRetained(made.mirror, signal), [second.base]);
  inRepository(made.mirror, "gc", "--quiet", "--prune=now");
  await t.rejects(made.lay("fourth", base), /is not in the repository/, "until it is released");
});

t.test("the mirrors are listed by their repositories", async (t) => {
  const { lay, mirrors } = scene(t);
  t.same(await mirrors.list(), []);
  await lay("first");
  t.same(await mirrors.list(), [repository]);
});

t.test(
  "a commit is held while runs that began from it are under way, and what was held meanwhile is known",
  async (t) => {
    const held = new CommitHolds();
    const commit = { repository, commit: "a".repeat(40) };
    const before = held.now;
    t.notOk(held.isHeldSince(commit, before));
    held.hold(commit);
    held.hold(commit);
    const during = held.now;
    held.letGo(commit);
    t.ok(held.isHeldSince(commit, during), "by the other");
    held.letGo(commit);
    t.notOk(held.isHeldSince(commit, during));
    t.ok(held.isHeldSince(commit, before), "it was, after the first look");
    held.forget(commit);
    t.notOk(held.isHeldSince(commit, before));
  },
);

t.test("a checkout holds its commit; one that failed, at whatever point, holds nothing", async (t) => {
  const { lay, mirrors, git } = scene(t);
  const commit = { repository, commit: git("rev-parse", "HEAD").trim() };
  const isHeld = () => mirrors.held.isHeldSince(commit, mirrors.held.now);
  await t.rejects(lay("first", null, "no diff at all\n"), { name: "GitFailed" });
  t.notOk(isHeld());
  const copy = mirrors.from({ repository, base: null, signal }, async () => {
    t.ok(isHeld());
    throw new Error("no room");
  });
  await t.rejects(copy, /no room/);
  t.notOk(isHeld());
  await lay("second");
  t.ok(isHeld());
});
