import t, { type Test } from "tap";
import { redeliverFailed } from "../../../actors/code-host/redelivery.js";
import { commentEffect } from "../../../actors/pull-requests/comment.effects.js";
import { listOpenEffect } from "../../../actors/pull-requests/list-open.effects.js";
import { filesEffect, lookEffect } from "../../../actors/pull-requests/look.effects.js";
import { openEffect } from "../../../actors/pull-requests/open.effects.js";
import { reviewEffect } from "../../../actors/pull-requests/review.effects.js";
import type { HostedAccount } from "../../../http/demo/code-host/hosted-account.js";
import type { Effect } from "../../../runtime/cells/actor-type.js";
import { address } from "../../../runtime/cells/address.js";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, bobThere, install } from "../../support/code-host-scene.js";
import { toClient } from "../../support/host-client.js";

/**
 * Tests the requests that effects send to a code host, and how the effects handle the code host's answers. The effects
 * call the tests' code host over the network.
 */

const repository = "acme-inc/app";

async function openHost(t: Test) {
  const peer = await startCodeHost(t);
  install(peer, 7);
  peer.repositories.set(7, [repository]);
  const app = await peer.work.addRepository(repository, { "a.txt": "one\n" });
  await app.commit({ branch: "signalbox/x", files: { "a.txt": "two\n", "b.txt": "new\n" } });
  return { peer, app, ...toClient(t, peer) };
}

type Opened = Awaited<ReturnType<typeof openHost>>;

/** Runs an effect once. */
function run(effect: Effect, input: object): Promise<unknown> {
  const owner = address("ws_1", "pull-request", "pr_1");
  const context = { id: "1", owner, memo: undefined, mayHaveBegun: false };
  return effect.prepare(input, context).begin(new AbortController().signal);
}

function opening({ codeHost, peer }: Opened, more: object = {}): Promise<unknown> {
  return run(openEffect({ codeHost, baseUrl: () => "https://here.example" }), {
    host: peer.name,
    installationId: 7,
    repository,
    taskId: "task_1",
    branch: "signalbox/x",
    base: null,
    title: "Fix",
    body: "Why.",
    draft: true,
    sinceMs: Date.now(),
    ...more,
  });
}

t.test("it is opened once, whatever becomes of the answer, and told as the code host shows it", async (t) => {
  const world = await openHost(t);
  const { peer } = world;
  peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: "lose" });
  t.match(await opening(world), { problem: "again", why: /could not be reached/ });
  t.equal(peer.work.pulls.length, 1, "it was opened, and the answer was lost");
  t.match(await opening(world), {
    problem: null,
    pullRequest: { number: 1, state: "open", branch: "signalbox/x", base: "main" },
  });
  const [pull] = peer.work.pulls;
  t.match(
    [peer.work.pulls.length, pull],
    [1, { title: "Fix", body: "Why.\n\nTask: https://here.example/api/tasks/task_1", draft: true }],
  );
  if (pull === undefined) return;
  await peer.work.close(pull, adaThere);
  t.match(
    await opening(world),
    { pullRequest: { number: 1, state: "closed" } },
    "opened for this, and closed by somebody",
  );
  t.match(await opening(world, { sinceMs: Date.now() + 600_000 }), { pullRequest: { number: 2, state: "open" } });
});

t.test("what an agent wrote mentions nobody, and fits", async (t) => {
  const world = await openHost(t);
  await opening(world, { body: "Asked by @ada: ".repeat(10_000) });
  const body = world.peer.work.pulls[0]?.body ?? "";
  t.match(body, /^Asked by @\u200bada: Asked by[\s\S]*\n\nTask: https:\/\/here\.example\/api\/tasks\/task_1$/);
  t.equal(body.length, 65_536);
});

t.test("one that is opened between the question and the wish is adopted", async (t) => {
  const world = await openHost(t);
  const { peer, app } = world;
  const theirs = { title: "Theirs", head: "signalbox/x", base: "main", by: bobThere };
  const opened = peer.asking(/POST .*\/pulls$/).then(() => peer.work.open(app, theirs));
  peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { after: opened } });
  t.match(await opening(world), { problem: null, pullRequest: { number: 1, title: "Theirs" } });
});

t.test("limits say until when, faults are tried again, refusals are final and in the code host's words", async (t) => {
  const world = await openHost(t);
  const { peer } = world;
  const resetS = Math.floor(Date.now() / 1_000) + 1_800;
  const limits: readonly [number, Record<string, string>, number][] = [
    [429, { "retry-after": "90" }, 90_000],
    [403, { "retry-after": "60" }, 60_000],
    [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetS) }, 1_800_000],
  ];
  for (const [status, headers, waitMs] of limits) {
    peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { status, headers } });
    const limited = (await opening(world)) as { readonly problem: string; readonly untilMs: number };
    t.equal(limited.problem, "limited");
    t.ok(Math.abs(limited.untilMs - Date.now() - waitMs) < 5_000, `${status}: ${waitMs}`);
  }
  const secondary = '{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}';
  peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { status: 403, body: secondary } });
  t.match(await opening(world), { problem: "limited", why: /403/ }, "it is said in words alone");
  peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { status: 502 } });
  t.match(await opening(world), { problem: "again", why: /answered with 502/ });
  peer.onceFaults.push({
    on: /POST .*\/pulls$/,
    fault: {
      status: 422,
      body: '{"message":"Validation Failed","errors":[{"message":"No commits between main and x"}]}',
    },
  });
  t.match(await opening(world), {
    problem: "refused",
    why: /422 \(Validation Failed: No commits between main and x\)/,
  });
  const errors = [
    { resource: "PullRequest", field: "base", code: "invalid" },
    { resource: "PullRequest", field: "head", code: "invalid" },
  ];
  peer.onceFaults.push({
    on: /POST .*\/pulls$/,
    fault: { status: 422, body: JSON.stringify({ message: "Validation Failed", errors }) },
  });
  const why = /422 \(Validation Failed: PullRequest base invalid: PullRequest head invalid\)/;
  t.match(await opening(world), { problem: "refused", why, fields: ["base", "head"] });
  t.match(await opening(world, { host: "other.example" }), { problem: "refused", why: /no longer the code host/ });
  t.match(
    await opening(world, { installationId: 8 }),
    { problem: "refused", why: /404/ },
    "the installation was removed",
  );
});

t.test("it is looked at by its tag, with its reviews, and its files are read", async (t) => {
  const world = await openHost(t);
  const { peer, app, codeHost } = world;
  await opening(world);
  const at = { host: peer.name, installationId: 7, repository, number: 1 };
  const [pull] = peer.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  await peer.work.review(pull, { state: "APPROVED", by: bobThere });
  const began = await peer.work.commentInReview(pull, { body: "Why?", by: bobThere });
  await peer.work.commentInReview(pull, { body: "So that it works.", by: adaThere, to: began });
  await peer.work.resolve(pull, began, adaThere);
  const first = (await run(lookEffect(codeHost), { ...at, etag: null })) as { readonly etag: string };
  t.match(first, {
    problem: null,
    seen: "changed",
    picture: { state: "open", head: await app.head("signalbox/x") },
    reviews: [
      { by: { login: "bob-there", isPerson: true }, commit: await app.head("signalbox/x"), verdict: "approved" },
      { by: { login: "bob-there" }, commit: null, id: began.id, thread: { isResolved: false } },
      { by: { login: "ada-there" }, commit: null, thread: undefined },
    ],
  });
  t.match(await run(lookEffect(codeHost), { ...at, etag: first.etag }), { problem: null, seen: "same" });
  t.same(await run(filesEffect(codeHost), at), { problem: null, files: ["a.txt", "b.txt"] });
  const merge = await peer.work.merge(pull, adaThere);
  t.match(await run(lookEffect(codeHost), { ...at, etag: first.etag }), {
    picture: { state: "merged", mergeCommit: merge },
  });
  t.match(await run(lookEffect(codeHost), { ...at, number: 9, etag: null }), { problem: null, seen: "gone" });
  peer.onceFaults.push({ on: /GET .*\/pulls\/1$/, fault: { status: 301, body: '{"message":"Moved Permanently"}' } });
  t.match(await run(lookEffect(codeHost), { ...at, etag: null }), { seen: "gone" }, "it has another name there");
});

t.test("long texts keep no list from being read, nor what became of the pull request", async (t) => {
  const world = await openHost(t);
  const { peer, codeHost } = world;
  await opening(world);
  const [pull] = peer.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  const at = { host: peer.name, installationId: 7, repository, number: 1 };
  const comments = Array.from({ length: 40 }, (_, n) => ({
    id: n + 1,
    user: { login: "bob-there", type: "User" },
    created_at: pull.created_at,
    body: "x".repeat(65_536),
    diff_hunk: "+y\n".repeat(20_000),
  }));
  peer.faults.set(/GET .*\/pulls\/1\/comments$/, { status: 200, body: JSON.stringify(comments) });
  t.match(await run(lookEffect(codeHost), { ...at, etag: null }), {
    problem: null,
    picture: { state: "open" },
    reviews: { length: 40 },
  });
  const pulls = Array.from({ length: 99 }, (_, n) => ({
    number: n + 1,
    updated_at: pull.updated_at,
    body: "ж".repeat(65_536),
  }));
  peer.faults.set(/GET .*\/pulls$/, { status: 200, body: JSON.stringify(pulls) });
  const listed = await run(listOpenEffect(codeHost), { ...at, etag: null });
  t.match(listed, { problem: null, isWhole: true, open: { length: 99 } });
});

t.test("the open ones are listed whole, and by the tag of the last list", async (t) => {
  const world = await openHost(t);
  const { peer, codeHost } = world;
  await opening(world);
  const list = (etag: string | null) =>
    run(listOpenEffect(codeHost), { host: peer.name, installationId: 7, repository, etag });
  const first = (await list(null)) as { readonly etag: string };
  t.match(first, { problem: null, listed: "changed", open: [{ number: 1 }], isWhole: true, etag: /./ });
  t.same(await list(first.etag), { problem: null, listed: "same" });
  const [pull] = peer.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  await peer.work.close(pull, adaThere);
  t.match(await list(first.etag), { listed: "changed", open: [], isWhole: true });
});

t.test(
  "a comment is one for its purpose: changed by its number, found by its mark, made anew when it is gone",
  async (t) => {
    const world = await openHost(t);
    const { peer, codeHost, pauses } = world;
    await opening(world);
    const at = { host: peer.name, installationId: 7, repository, number: 1, taskId: "task_1", purpose: "decisions" };
    const write = (id: number | null, text: string) =>
      run(commentEffect(codeHost), { ...at, id, text }) as Promise<{ readonly id: number }>;
    const made = await write(null, "One.");
    t.equal((await write(null, "Two.")).id, made.id, "what was written before is found");
    t.equal((await write(made.id, "x".repeat(70_000))).id, made.id);
    t.match(peer.work.comments, [{ body: /^<!-- signalbox:task_1:decisions -->\nx+$/ }]);
    t.ok((peer.work.comments[0]?.body.length ?? 0) <= 65_536);
    peer.work.comments.splice(0);
    t.not((await write(made.id, "Three.")).id, made.id);
    t.ok(pauses.length > 0 && pauses.every((ms) => ms > 0 && ms <= 10_000), "writes are a second apart");
  },
);

t.test("nobody else's text is taken for the service's own, whatever mark it begins with", async (t) => {
  const world = await openHost(t);
  const { peer, codeHost } = world;
  await opening(world);
  const [pull] = peer.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  const at = { host: peer.name, installationId: 7, repository, number: 1, taskId: "task_1" };
  const otherBot: HostedAccount = { id: 77, login: "other[bot]", type: "Bot" };
  for (const by of [bobThere, otherBot]) {
    peer.work.comment(repository, 1, "<!-- signalbox:task_1:decisions -->\nTheirs.", by);
    await peer.work.review(pull, { state: "COMMENTED", body: "<!-- signalbox:task_1:review-run_1 -->\nTheirs.", by });
  }
  const comment = () => run(commentEffect(codeHost), { ...at, purpose: "decisions", id: null, text: "Ours." });
  const review = () => run(reviewEffect(codeHost), { ...at, runId: "run_1", text: "Ours." });
  t.same(await comment(), await comment());
  t.same(await review(), await review());
  const written = (texts: readonly { readonly user: HostedAccount; readonly body: string }[]) =>
    texts.map(({ user, body }) => [user.login, body.split("\n")[1]]);
  const all = [
    ["bob-there", "Theirs."],
    ["other[bot]", "Theirs."],
    ["signalbox[bot]", "Ours."],
  ];
  t.same([written(peer.work.comments), written(pull.reviews)], [all, all]);
});

t.test("a review is a comment alone, and written once, whatever becomes of the answer", async (t) => {
  const world = await openHost(t);
  const { peer, codeHost } = world;
  await opening(world);
  const at = { host: peer.name, installationId: 7, repository, number: 1, taskId: "task_1" };
  const write = (runId: string) => run(reviewEffect(codeHost), { ...at, runId, text: "x".repeat(70_000) });
  peer.onceFaults.push({ on: /POST .*\/reviews$/, fault: "lose" });
  t.match(await write("run_1"), { problem: "again" });
  const first = {
    problem: null,
    url: `${peer.origin}/${repository}/pull/1#pullrequestreview-${peer.work.pulls[0]?.reviews[0]?.id}`,
  };
  t.same(await write("run_1"), first);
  t.same(await write("run_1"), first);
  t.match(await write("run_2"), { problem: null });
  const reviews = peer.work.pulls[0]?.reviews ?? [];
  t.match(
    reviews.map(({ state, body }) => [state, body.slice(0, 45), body.length]),
    [1, 2].map((of) => ["COMMENTED", `<!-- signalbox:task_1:review-run_${of} -->\nxxxxxx`, 65_536]),
  );
  peer.onceFaults.push({ on: /POST .*\/reviews$/, fault: { status: 429, headers: { "retry-after": "90" } } });
  t.match(await write("run_3"), { problem: "limited" });
});

t.test("a token for a push is of one repository, and of workflows only where they are changed", async (t) => {
  const { codeHost, peer } = await openHost(t);
  const push = { installationId: 7, repository, workflows: false };
  const { url, token } = await codeHost.pushToken(push);
  t.equal(url, `${peer.origin}/${repository}.git`);
  t.not((await codeHost.pushToken(push)).token, token, "each push has its own");
  await t.rejects(codeHost.pushToken({ ...push, repository: "acme-inc/none" }), { name: "CodeHostRefused" });
});

t.test("deliveries that were lost while the service was down are asked for once more, and no others", async (t) => {
  const { codeHost, peer } = await openHost(t);
  const event = { event: "star", payload: {} } as const;
  await peer.hooks.send(event, "lost");
  await peer.hooks.send(event, "lost-twice");
  await peer.hooks.send(event, "lost-twice", true);
  t.equal(await redeliverFailed(codeHost, Date.now()), 2);
  t.same(peer.hooks.attempts.map(({ guid }) => guid).slice(3), ["lost", "lost-twice"]);
  t.equal(await redeliverFailed(codeHost, Date.now() + 4 * 24 * 3_600_000), 0, "what is older is kept no more");
  peer.faults.set(/hook\/deliveries/, { status: 500 });
  t.equal(await redeliverFailed(codeHost, Date.now()), 0);
});
