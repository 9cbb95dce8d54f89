import { join } from "node:path";
import t from "tap";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, bobThere, connect, install } from "../../support/code-host-scene.js";
import { startRealRunner } from "../../support/real-runner.js";
import { openWorkplace } from "../../support/workplace.js";

/**
 * Tests the path from a task to its pull request, with a service, a real runner, and a code host with a real
 * repository.
 */

const SAID = JSON.stringify({ type: "step", kind: "message", text: "Read; <!-- signalbox:x --> fine." });
const AGENT = `ls > seen.txt; echo "$SIGNALBOX_TASK" >> a.txt; echo '${SAID}'`;

t.test("a task's change becomes a pull request; moved back, its next run goes on from the branch", async (t) => {
  const host = await startCodeHost(t);
  install(host, 7, { id: 9_001, login: "acme", type: "Organization" });
  host.repositories.set(7, ["acme/app"]);
  const app = await host.work.addRepository("acme/app", { "a.txt": "one\n" });
  const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, passesTo: [] };
  const place = await openWorkplace(t, { settings: host.settings, stations: [work] });
  t.equal((await connect(host, place.ada, { installationId: 7 })).status, 200);
  await startRealRunner(t, {
    url: place.service.baseUrl,
    token: place.token,
    command: ["/bin/sh", "-c", AGENT],
    gitUrl: join(await host.work.folder, "{name}.git"),
  });
  const busy = { status: 403, headers: { "retry-after": "1" }, body: '{"message":"You have exceeded a rate limit."}' };
  host.onceFaults.push({ on: /access_tokens$/, fault: busy });
  const taskId = await place.open({ title: "Fix the <b>title</b>; $(touch x)" });
  const isDone = async () => (await place.task(taskId)).state === "done";
  await place.when(`task/${taskId}`, isDone);
  t.same(host.onceFaults, [], "its first push got no token");
  t.match(JSON.stringify(await place.task(taskId)), /limits requests .* is retried after/);
  const branch = `signalbox/${taskId.slice(-8).toLowerCase()}-fix-the-b-title-b-touch-x`;
  const [pull] = host.work.pulls;
  if (pull === undefined) throw new Error("no pull request was opened");
  t.match(pull, { number: 1, head: branch, base: "main", title: "Fix the <b>title</b>; $(touch x)" });
  t.match(await place.task(taskId), { pullRequest: { url: `${host.origin}/acme/app/pull/1`, state: "open" } });
  t.same(await app.files((await app.head(branch)) ?? ""), { "a.txt": `one\n${taskId}`, "seen.txt": "a.txt\nseen.txt" });

  await host.work.push(app, { branch, files: { "theirs.txt": "theirs\n" }, by: bobThere });
  const moved = await place.ada.request("POST", `/api/tasks/${taskId}/move`, { to: "work" });
  t.equal(moved.status, 200, moved.text);
  await place.until(async () => (await place.runs(taskId)).length === 2 && (await isDone()));
  const seen = "a.txt\nseen.txt\ntheirs.txt";
  const all = { "a.txt": `one\n${taskId}\n${taskId}`, "seen.txt": seen, "theirs.txt": "theirs" };
  t.same(await app.files((await app.head(branch)) ?? ""), all);
  t.equal(host.work.pulls.length, 1);
  const reviewed = await place.open({ title: "Review it", pullRequest: `${host.origin}/acme/app/pull/1` });
  await place.when(`task/${reviewed}`, async () => (await place.task(reviewed)).state === "done");
  const [review] = await place.runs(reviewed);
  const { body } = await place.ada.request("GET", `/api/runs/${String(review?.id)}`);
  t.match(
    body?.checkouts,
    [{ base: await app.head(branch), diff: new RegExp(reviewed) }],
    "at its head, and changed there alone",
  );
  t.match(await place.task(reviewed), { reviews: { repository: "acme/app", ref: "refs/pull/1/head" } });
  t.equal((await place.task(reviewed)).pullRequest, null);
  await place.until(async () => JSON.stringify(await place.task(reviewed)).includes("Review posted: "));
  const mark = `<!-- signalbox:${reviewed}:review-${String(review?.id)} -->`;
  t.match(
    pull.reviews.map(({ state, body, user }) => [state, body, user.type]),
    [["COMMENTED", `${mark}\nRead; &lt;!-- signalbox:x --> fine.`, "Bot"]],
    "one review, and no verdict",
  );
  t.same(await app.files((await app.head(branch)) ?? ""), all);
  t.equal(await app.git("rev-list", "--count", `main..${branch}`), "3", "a commit a run, and the person's");
  await host.work.merge(pull, adaThere);
  t.match(await app.files("main"), all);
  const told = JSON.stringify([await place.runs(taskId), await place.task(taskId)]);
  for (const secret of host.secrets.filter((one) => one.startsWith("ghs_"))) t.notMatch(told, secret);
});
