import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { bobThere } from "../../../support/code-host-scene.js";
import { until } from "../../../support/until.js";
import { putGitFirst } from "../first-git.js";
import { BRANCH, type PushedRun, PushScene } from "./push-scene.js";

/** The runner's pushes, to a code host with real repositories. */

const put = ({ checkout }: PushedRun, path: string, text: string) => writeFileSync(join(checkout.folder, path), text);

t.test("a run's changes are one commit on what it began from, by the runner, told with their paths", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  put(run, "a.txt", "changed\n");
  put(run, "new.txt", "new\n");
  rmSync(join(run.checkout.folder, "b.txt"));
  const pushed = await run.end({ title: "Fix it\nand more", message: "Because." });
  const head = await scene.app.head(BRANCH);
  t.match(pushed, { type: "run.pushed", repository: "acme-inc/app", head, changed: ["a.txt", "b.txt", "new.txt"] });
  t.same(await scene.branch(), { "a.txt": "changed", "new.txt": "new" });
  const shown = await scene.app.git("show", "--no-patch", "--format=%an <%ae>|%cn|%P|%B", BRANCH);
  t.equal(shown, `Signalbox <signalbox@localhost>|Signalbox|${run.checkout.base}|Fix it\n\nBecause.`);
  // The code host sends its push event after its answer.
  await until("the push is told", () => scene.host.work.events.length > 0);
  t.match(scene.host.work.events, [{ event: "push", payload: { ref: `refs/heads/${BRANCH}` } }]);
});

t.test("what an agent wished for is pushed as it was then; what came after is a commit on top", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  put(run, "a.txt", "first\n");
  const wished = run.pushes.wish({ repository: null, title: "  Fix\nit ", body: "Because." });
  await until("the wish is told", async () => run.messages.length === 1);
  const [wish] = run.messages;
  t.match(wish, { type: "run.pull-request", title: "Fix it", body: "Because.", changed: ["a.txt"] });
  put(run, "a.txt", "second\n");
  const id = wish?.type === "run.pull-request" ? wish.id : "";
  const author = { name: "signalbox[bot]", email: "1+signalbox[bot]@users.noreply.example" };
  const first = await run.order({ wish: id, author });
  t.match(first, { type: "run.pushed", changed: ["a.txt"] }, "why" in first ? first.why : "it is pushed");
  t.same(await scene.branch(), { "a.txt": "first", "b.txt": "two" });
  run.pushes.take({
    type: "run.pull-request-answered",
    runId: "run_1",
    fence: 1,
    id,
    url: "https://code.example/acme/app/pull/1",
    refused: null,
  });
  t.same(await wished, { url: "https://code.example/acme/app/pull/1" });
  t.match(await run.end({ author }), { type: "run.pushed", changed: ["a.txt"] });
  t.same(await scene.branch(), { "a.txt": "second", "b.txt": "two" });
  const log = await scene.app.git("log", "--format=%an %H", BRANCH);
  t.match(log, new RegExp(`^signalbox\\[bot\\] .*\nsignalbox\\[bot\\] ${"head" in first ? first.head : "?"}\n`));
});

t.test("what people pushed meanwhile stays, and stays again", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  put(run, "a.txt", "ours\n");
  await run.end();
  await scene.host.work.push(scene.app, { branch: BRANCH, files: { "theirs.txt": "theirs\n" }, by: bobThere });
  put(run, "c.txt", "more\n");
  const second = await run.end();
  t.equal(second.type, "run.pushed");
  t.same(await scene.branch(), { "a.txt": "ours", "b.txt": "two", "c.txt": "more", "theirs.txt": "theirs" });
  put(run, "a.txt", "ours again\n");
  t.equal((await run.end()).type, "run.pushed");
  const all = { "a.txt": "ours again", "b.txt": "two", "c.txt": "more", "theirs.txt": "theirs" };
  t.same(await scene.branch(), all);
  t.equal(await scene.app.git("rev-list", "--count", "--merges", BRANCH), "0", "it stays one line of commits");
  const later = await scene.run({ branch: BRANCH });
  t.match(later.checkout, { base: await scene.app.head(BRANCH), branch: BRANCH, tree: null });
});

t.test("a conflict with what people pushed moves nothing, and is told", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  await scene.app.commit({ branch: BRANCH, files: { "a.txt": "theirs\n" } });
  put(run, "a.txt", "ours\n");
  const before = await scene.app.head(BRANCH);
  const why = /conflict with what others/;
  t.match(await run.end(), { type: "run.push-rejected", problem: "conflict", why, head: before });
  t.equal(await scene.app.head(BRANCH), before);
  const next = await scene.run({ branch: BRANCH });
  put(next, "a.txt", "ours\n");
  t.equal((await next.end()).type, "run.pushed", "a run that begins there goes on");
});

t.test("a git that cannot merge is the reason why nothing is pushed, and no conflict", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  await scene.app.commit({ branch: BRANCH, files: { "theirs.txt": "theirs\n" } });
  put(run, "a.txt", "ours\n");
  await run.keep();
  const restore = putGitFirst(t, scene.workFolder, { version: "2.30.1", merging: 1 });
  t.match(await run.order(), { type: "run.push-rejected", problem: "failed", why: /merging branches needs git 2\.38/ });
  restore();
  const again = putGitFirst(t, scene.workFolder, { version: "2.39.5", merging: 128 });
  t.match(await run.order(), { type: "run.push-rejected", problem: "failed", why: /usage: git merge-tree/ });
  again();
  t.match(await run.order(), { type: "run.pushed" });
});

t.test("a push whose answer was lost is told as made; made again it adds nothing", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  put(run, "a.txt", "ours\n");
  scene.host.onceFaults.push({ on: /POST .*git-receive-pack/, fault: "lose" });
  const pushed = await run.end();
  const head = await scene.app.head(BRANCH);
  t.match(pushed, { type: "run.pushed", head });
  const again = await scene.run();
  put(again, "a.txt", "ours\n");
  t.match(await again.end(), { type: "run.pushed", head }, "another run of the same changes");
  t.match(await again.order(), { type: "run.pushed", head });
  t.equal(await scene.app.head(BRANCH), head);
});

t.test("nothing changed: the head of the branch, or that there is none", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  t.match(await run.end(), { type: "run.push-rejected", problem: "nothing" });
  t.equal(await scene.branch(), null);
  const head = await scene.app.commit({ branch: BRANCH, files: { "a.txt": "theirs\n" } });
  t.match(await run.order(), { type: "run.pushed", head, changed: { length: 0 } });
});

t.test("the code host's refusals and failures are told by what they are, without the token", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  put(run, "a.txt", "ours\n");
  await run.keep();
  const at = (problem: string, why: RegExp) => ({ type: "run.push-rejected", problem, why });
  t.match(await run.order({ token: scene.token({ contents: "read" }) }), at("refused", /Authentication failed/));
  t.match(await run.order({ token: null, why: "It gave none." }), at("untokened", /^It gave none\.$/));
  t.match(await run.order({ base: BRANCH }), at("refused", /base branch of the pull request/));
  t.match(await run.order({ repository: "acme-inc/other" }), at("failed", /not a repository of the run/));
  t.match(await run.order({ wish: "1-9" }), at("failed", /could not be read/));
  const token = scene.token();
  const body = { status: 503, body: `we saw ${token}`, headers: { "content-type": "text/plain" } };
  scene.host.onceFaults.push({ on: /info\/refs/, fault: body }, { on: /info\/refs/, fault: body });
  const down = await run.order({ token });
  t.match(down, at("unreachable", /503/));
  t.notMatch(down, { why: new RegExp(token) });
  for (const url of [
    "file:///srv/git/app.git",
    "ssh://code.example/app.git",
    "https://me:pw@code.example/a.git",
    "x",
  ]) {
    t.match(await run.order({ url }), at("refused", /not one that the runner can push to/), url);
  }
  t.equal(await scene.branch(), null);
});

t.test("a change of workflows needs a token that allows it", async (t) => {
  const scene = await PushScene.open(t, { ".github/workflows/ci.yml": "on: push\n" });
  const run = await scene.run();
  put(run, ".github/workflows/ci.yml", "on: [push]\n");
  t.match(await run.end(), { problem: "refused", why: /without workflows permission/ });
  const allowed = await run.order({ token: scene.token({ contents: "write", workflows: "write" }) });
  t.match(allowed, { type: "run.pushed", changed: [".github/workflows/ci.yml"] });
});

t.test("wishes are bounded, need a title and a repository, and are refused when the run is over", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  const wish = { repository: null, title: "Fix", body: "" };
  t.match(await run.pushes.wish({ ...wish, title: " " }), { refused: /needs a title/ });
  t.match(await run.pushes.wish({ ...wish, repository: "acme-inc/x" }), { refused: /Name one of .*acme-inc\/app/ });
  const waiting = Array.from({ length: 5 }, () => run.pushes.wish(wish));
  t.match(await run.pushes.wish(wish), { refused: /Wait/ });
  await run.keep();
  for (const result of await Promise.all(waiting)) t.match(result, { refused: "The run is over." });
  t.match(await run.pushes.wish(wish), { refused: "The run is over." });
});

t.test("a base that moved is merged in where the job says so, and the commit has both as parents", async (t) => {
  const scene = await PushScene.open(t);
  const first = await scene.run();
  put(first, "a.txt", "ours\n");
  await first.end();
  const moved = await scene.app.commit({ branch: "main", files: { "a.txt": "theirs\n", "c.txt": "theirs\n" } });
  const merges = { branch: "main", commit: null };
  const run = await scene.run({ branch: BRANCH, merges });
  t.match(run.checkout.merged, { branch: "main", commit: moved, conflicts: ["a.txt"] });
  const again = await scene.run({ branch: BRANCH, merges: { branch: "main", commit: moved } });
  t.equal(again.checkout.tree, run.checkout.tree, "the same again by the commit");
  put(run, "a.txt", "both\n");
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
