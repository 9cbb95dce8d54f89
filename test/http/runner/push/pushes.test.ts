import { rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { until } from "../../../support/until.js";
import { BRANCH, PushScene, putFile } from "./push-scene.js";

/** The runner's pushes, to a code host with real repositories. */

t.test("a run's changes are one commit on what it began from, by the runner, told with their paths", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  putFile(run, "a.txt", "changed\n");
  putFile(run, "new.txt", "new\n");
  rmSync(join(run.checkout.folder, "b.txt"));
  const pushed = await run.end({ title: "Fix it\nand more", message: "Because." });
  const head = await scene.app.head(BRANCH);
  t.match(pushed, { type: "run.pushed", repository: "acme-inc/app", head, changed: ["a.txt", "b.txt", "new.txt"] });
  t.same(await scene.branch(), { "a.txt": "changed", "new.txt": "new" });
  const shown = await scene.app.git("show", "--no-patch", "--format=%an <%ae>|%cn|%P|%B", BRANCH);
  t.equal(shown, `Signalbox <signalbox@localhost>|Signalbox|${run.checkout.base}|Fix it\n\nBecause.`);
  // The code host sends its push event after it has answered the push.
  await until("the push is told", () => scene.host.work.events.length > 0);
  t.match(scene.host.work.events, [{ event: "push", payload: { ref: `refs/heads/${BRANCH}` } }]);
});

t.test("what an agent wished for is pushed as it was then; what came after is a commit on top", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  putFile(run, "a.txt", "first\n");
  const wished = run.pushes.wish({ repository: null, title: "  Fix\nit ", body: "Because." });
  await until("the wish is told", async () => run.messages.length === 1);
  const [wish] = run.messages;
  t.match(wish, { type: "run.pull-request", title: "Fix it", body: "Because.", changed: ["a.txt"] });
  putFile(run, "a.txt", "second\n");
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

t.test("a push whose answer was lost is told as made; made again it adds nothing", async (t) => {
  const scene = await PushScene.open(t);
  const run = await scene.run();
  putFile(run, "a.txt", "ours\n");
  scene.host.onceFaults.push({ on: /POST .*git-receive-pack/, fault: "lose" });
  const pushed = await run.end();
  const head = await scene.app.head(BRANCH);
  t.match(pushed, { type: "run.pushed", head });
  const again = await scene.run();
  putFile(again, "a.txt", "ours\n");
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
