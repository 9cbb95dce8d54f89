import t from "tap";
import { putGitFirst } from "../first-git.js";
import { BRANCH, PushScene, putFile } from "./push-scene.js";

/** Pushes that the runner or the code host refuses. */

t.test("a conflict with what people pushed moves nothing, and is told", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  await scene.app.commit({ branch: BRANCH, files: { "a.txt": "theirs\n" } });
  putFile(run, "a.txt", "ours\n");
  const before = await scene.app.head(BRANCH);
  const why = /conflict with what others/;
  t.match(await run.end(), { type: "run.push-rejected", problem: "conflict", why, head: before });
  t.equal(await scene.app.head(BRANCH), before);
  const next = await scene.run({ branch: BRANCH });
  putFile(next, "a.txt", "ours\n");
  t.equal((await next.end()).type, "run.pushed", "a run that begins there goes on");
});

t.test("a git that cannot merge is the reason why nothing is pushed, and no conflict", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  await scene.app.commit({ branch: BRANCH, files: { "theirs.txt": "theirs\n" } });
  putFile(run, "a.txt", "ours\n");
  await run.keep();
  const restore = putGitFirst(t, scene.workFolder, { version: "2.30.1", merging: 1 });
  t.match(await run.order(), { type: "run.push-rejected", problem: "failed", why: /merging branches needs git 2\.38/ });
  restore();
  const again = putGitFirst(t, scene.workFolder, { version: "2.39.5", merging: 128 });
  t.match(await run.order(), { type: "run.push-rejected", problem: "failed", why: /usage: git merge-tree/ });
  again();
  t.match(await run.order(), { type: "run.pushed" });
});

t.test("the code host's refusals and failures are told by what they are, without the token", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  putFile(run, "a.txt", "ours\n");
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
  putFile(run, ".github/workflows/ci.yml", "on: [push]\n");
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
