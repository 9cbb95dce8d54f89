import t from "tap";
import { bobThere } from "../../../support/code-host-scene.js";
import { BRANCH, PushScene, putFile } from "./push-scene.js";

/**
 * Tests two kinds of branches: branches that runs start from, and branches that runs push to. People push to the same
 * branches at the same time.
 */

t.test("what people pushed meanwhile stays, and stays again", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  putFile(run, "a.txt", "ours\n");
  await run.end();
  await scene.host.work.push(scene.app, { branch: BRANCH, files: { "theirs.txt": "theirs\n" }, by: bobThere });
  putFile(run, "c.txt", "more\n");
  const second = await run.end();
  t.equal(second.type, "run.pushed");
  t.same(await scene.branch(), { "a.txt": "ours", "b.txt": "two", "c.txt": "more", "theirs.txt": "theirs" });
  putFile(run, "a.txt", "ours again\n");
  t.equal((await run.end()).type, "run.pushed");
  const all = { "a.txt": "ours again", "b.txt": "two", "c.txt": "more", "theirs.txt": "theirs" };
  t.same(await scene.branch(), all);
  t.equal(await scene.app.git("rev-list", "--count", "--merges", BRANCH), "0", "it stays one line of commits");
  const later = await scene.run({ branch: BRANCH });
  t.match(later.checkout, { base: await scene.app.head(BRANCH), branch: BRANCH, tree: null });
});

t.test("a base that moved is merged in where the job says so, and the commit has both as parents", async (t) => {
  const scene = await PushScene.open(t);
  const first = await scene.run();
  putFile(first, "a.txt", "ours\n");
  await first.end();
  const moved = await scene.app.commit({ branch: "main", files: { "a.txt": "theirs\n", "c.txt": "theirs\n" } });
  const merges = { branch: "main", commit: null };
  const run = await scene.run({ branch: BRANCH, merges });
  t.match(run.checkout.merged, { branch: "main", commit: moved, conflicts: ["a.txt"] });
  const again = await scene.run({ branch: BRANCH, merges: { branch: "main", commit: moved } });
  t.equal(again.checkout.tree, run.checkout.tree, "the same again by the commit");
  putFile(run, "a.txt", "both\n");
  t.match(await run.end(), { type: "run.pushed", changed: ["a.txt"] });
  t.same(await scene.branch(), { "a.txt": "both", "b.txt": "two", "c.txt": "theirs" });
  const parents = await scene.app.git("show", "--no-patch", "--format=%P", BRANCH);
  t.equal(parents, `${run.checkout.base} ${moved}`);
  t.type(await scene.app.joined("main", BRANCH), "string", "it conflicts no more");
  const settled = await scene.run({ branch: BRANCH, merges: { branch: "HEAD", commit: null } });
  t.equal(settled.checkout.merged, null, "what is in already is not merged again");
});

t.test("a run begins at a branch's head, a pull request's head, or without the branch at its base", async (t) => {
  const scene = await PushScene.open(t);
  const base = (await scene.app.head("main")) ?? "";
  const head = await scene.app.commit({ branch: "theirs", files: { "a.txt": "theirs\n" } });
  await scene.app.git("update-ref", "refs/pull/3/head", head);
  t.match((await scene.run({ branch: "theirs", base, diff: "not used" })).checkout, { base: head, branch: "theirs" });
  await scene.app.git("update-ref", "-d", "refs/heads/theirs");
  const of = await scene.run({ branch: "refs/pull/3/head" });
  t.match(of.checkout, { base: head, branch: "refs/pull/3/head", merged: null });
  t.match((await scene.run({ branch: "theirs", base })).checkout, { base, branch: null });
  t.match((await scene.run({ branch: "theirs" })).checkout, { base, branch: null });
  await t.rejects(scene.run({ branch: "refs/heads/theirs" }), /there is no refs\/heads\/theirs/);
});
