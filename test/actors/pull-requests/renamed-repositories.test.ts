import t, { type Test } from "tap";
import { findReachingConnection } from "../../../actors/code-host/connection.queries.js";
import type { HostedNews } from "../../../actors/code-host/hosted-news.js";
import { lineWarnings } from "../../../actors/lines/line-warnings.js";
import type { CodeHost } from "../../../actors/outbound/code-host/code-host.js";
import { commentEffect } from "../../../actors/pull-requests/comment.effects.js";
import { listOpenEffect } from "../../../actors/pull-requests/list-open.effects.js";
import { filesEffect, lookEffect } from "../../../actors/pull-requests/look.effects.js";
import { openEffect } from "../../../actors/pull-requests/open.effects.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { pullRequestLogActor } from "../../../actors/pull-requests/pull-request-log.machine.js";
import { findPullRequestLog } from "../../../actors/pull-requests/pull-request-log.messages.js";
import { findTaskBranch } from "../../../actors/runs/task-branch.table.js";
import type { Effect } from "../../../runtime/cells/actor-type.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, install } from "../../support/code-host-scene.js";
import { toClient } from "../../support/host-client.js";
import {
  branch,
  connect,
  head,
  host,
  mergedAt,
  repository,
  SteppedPullRequest,
  T0,
  taskId,
  toPicture,
} from "../../support/pull-request-scene.js";
import { byAnn, SteppedLog } from "../../support/stepped-log.js";
import { stepByHand, type TurnTaken } from "../../support/turn.js";
import { line, workspaceId } from "../../support/work.js";

/** Tests how the service updates pull requests when the code host renames or transfers their repository. */

const NUMBER = 1_296_269;
const now = { repository: "acme/renamed", repositoryId: NUMBER };

function run(effect: Effect, input: object): Promise<unknown> {
  const owner = address("ws_1", "pull-request", "pr_1");
  const context = { id: "1", owner, memo: undefined, mayHaveBegun: false };
  return effect.prepare(input, context).begin(new AbortController().signal);
}

async function openHost(t: Test) {
  const peer = await startCodeHost(t);
  install(peer, 7);
  install(peer, 8, { id: 9_900, login: "new-owner", type: "Organization" });
  peer.repositories.set(7, ["acme-inc/app"]);
  const app = await peer.work.addRepository("acme-inc/app", { "a.txt": "one\n" });
  await app.commit({ branch: "signalbox/x", files: { "a.txt": "two\n" } });
  return { peer, app, ...toClient(t, peer) };
}

const opening = (codeHost: CodeHost, installationId = 7) =>
  run(openEffect({ codeHost, baseUrl: () => "https://here.example" }), {
    host: codeHost.name,
    installationId,
    repository: "acme-inc/app",
    taskId: "task_1",
    branch: "signalbox/x",
    base: null,
    title: "Fix",
    body: "Why.",
    draft: false,
    sinceMs: Date.now(),
  });

for (const [what, name, installationId] of [
  ["renamed", "acme-inc/renamed", 7],
  ["transferred", "new-owner/app", 8],
] as const) {
  t.test(`everything that is asked of a ${what} repository by its old name is done at its new one`, async (t) => {
    const { peer, app, codeHost } = await openHost(t);
    await peer.rename(app, name, adaThere);
    const opened = { problem: null, pullRequest: { number: 1, repository: name, repositoryId: app.id } };
    t.match(await opening(codeHost, installationId), opened);
    t.match(await opening(codeHost, installationId), opened, "it is found again by its branch");
    t.equal(peer.work.pulls.length, 1);
    const at = { host: peer.name, installationId, repository: "acme-inc/app", number: 1 };
    const looked = await run(lookEffect(codeHost), { ...at, etag: null });
    t.match(looked, { seen: "changed", picture: { repository: name, repositoryId: app.id, state: "open" } });
    const { etag } = looked as { readonly etag: string };
    t.match(await run(lookEffect(codeHost), { ...at, etag }), { seen: "same" });
    t.match(await run(listOpenEffect(codeHost), { ...at, etag: null }), { open: [{ number: 1 }] });
    t.match(await run(filesEffect(codeHost), at), { files: ["a.txt"] });
    const comment = { ...at, taskId: "task_1", purpose: "decisions" };
    const made = (await run(commentEffect(codeHost), { ...comment, id: null, text: "One." })) as { id: number };
    t.match(await run(commentEffect(codeHost), { ...comment, id: made.id, text: "Two." }), { id: made.id });
    t.match(peer.work.comments, [{ repository: name, body: /Two\.$/ }]);
    const there = { installationId, repository: "acme-inc/app" };
    const pushed = await codeHost.pushToken({ ...there, workflows: false });
    t.equal(pushed.url, `${peer.origin}/${name}.git`, "it is pushed there too");
    const { sources } = codeHost;
    const on = await sources.readHead(there);
    t.ok(on);
    if (on === null) return;
    const files = [{ path: "b.txt", mode: "100644", content: "b\n" }];
    const { commit } = await sources.writeCommit(there, { on, parents: [], message: "more", files });
    t.ok(await sources.createBranch(there, { branch: "more", commit }), "config pull requests commit there");
    t.equal(await app.head("more"), commit);
  });
}

t.test(
  "only redirects within the code host's API are followed, a few of them, and no other is asked again",
  async (t) => {
    const { peer, codeHost } = await openHost(t);
    const api = `${peer.origin}/api/v3`;
    const elsewhere: readonly (string | undefined)[] = [
      "https://other.example/api/v3/repositories/1/pulls",
      `${peer.origin}/login/pulls`,
      `${peer.origin}/api/v3/../v4/pulls`,
      api.replace("http://", "http://user:secret@"),
      `${api.replace("127.0.0.1", "localhost")}/repositories/1/pulls`,
      "http://[",
      undefined,
      `${api}/repos/acme-inc/app/pulls`,
    ];
    for (const location of elsewhere) {
      for (const status of [301, 302, 307, 308]) {
        peer.faults.clear();
        peer.faults.set(/GET .*\/pulls$/, { status, headers: { ...(location && { location }) } });
        const before = peer.asked.length;
        t.match(
          await opening(codeHost),
          { problem: "refused", why: new RegExp(`with ${status} \\(a redirect`) },
          location ?? "none",
        );
        t.ok(peer.asked.length - before <= 5, "it ends soon");
      }
    }
  },
);

t.test("what a code host says in `errors` is shown, whatever they are", async (t) => {
  const { peer, codeHost } = await openHost(t);
  const said: readonly [unknown, string][] = [
    [
      ["No commits between main and x", "A second one"],
      "Validation Failed: No commits between main and x: A second one",
    ],
    ["No commits", "Validation Failed: No commits"],
    [{ message: "No commits" }, "Validation Failed: No commits"],
    [[{ resource: "PullRequest", field: "base", code: "invalid" }], "Validation Failed: PullRequest base invalid"],
    [["One", { message: "Two" }, null, 7, { other: 1 }], "Validation Failed: One: Two"],
    [[], "Validation Failed"],
    [null, "Validation Failed"],
    [["half \ud83d of a pair"], "Validation Failed: half \ufffd of a pair"],
  ];
  for (const [errors, why] of said) {
    const body = JSON.stringify({ message: "Validation Failed", errors });
    peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { status: 422, body } });
    t.match(await opening(codeHost), { problem: "refused", why: `${codeHost.name} answered with 422 (${why}).` });
  }
  const body = JSON.stringify({ message: "no", errors: ["A pull request already exists for acme-inc:signalbox/x."] });
  peer.onceFaults.push({ on: /POST .*\/pulls$/, fault: { status: 422, body } });
  t.match(await opening(codeHost), { problem: "again", why: /a pull request already exists/ }, "it is looked for then");
});

const news = (about: HostedNews["about"], more: object = {}): Message =>
  ({ type: "host.news", host, news: { installationId: 7, ...now, about, ...more } }) as Message;

/**
 * Returns the log actor of the repository, to step by hand. Finds the actor by the repository's current name or number.
 */
function stepLog(rows: SteppedLog["rows"]) {
  const log = findPullRequestLog(rows, workspaceId, { repository, host, repositoryId: NUMBER });
  return stepByHand(pullRequestLogActor, log, { rows });
}

const listWarnings = (rows: SteppedLog["rows"]) =>
  lineWarnings({ ...line, source: null, stations: [] }, rows, { workspaceId, judges: true })
    .filter(({ path }) => path.startsWith("repositories"))
    .map(({ path, message }) => `${path}: ${message}`);

t.test(
  "a repository that the code host tells has another name is known by both, and its rows have the new one",
  async (t) => {
    const log = new SteppedLog({ picture: byAnn(), reviews: [] });
    connect(log.rows);
    log.actor.take(news({ number: 12, picture: byAnn({ repositoryId: NUMBER }), reviews: [] }, { repository }));
    t.match(log.stored, [{ repository, repositoryId: NUMBER, state: "open" }]);
    t.same(listWarnings(log.rows), []);
    t.equal(log.actor.take(news({ formerName: repository })).answer, true);
    t.match(log.stored, [{ repository: "acme/renamed", repositoryId: NUMBER, state: "open" }]);
    t.match(listWarnings(log.rows), [
      /^repositories\[0\]\.name: code\.example now calls this repository acme\/renamed/,
    ]);
    t.equal(findPullRequestLog(log.rows, workspaceId, { repository: "Acme/Renamed" }).id, repository);
    t.equal(findReachingConnection(log.rows, workspaceId, repository)?.installationId, 7);
    const merged = byAnn({ ...now, ...mergedAt(T0 + 5_000) });
    log.actor.take(news({ number: 12, picture: merged, reviews: [] }));
    t.match(log.stored, [{ repository: "acme/renamed", state: "merged" }], "its merge is known");
    t.equal(log.stored.length, 1);
  },
);

t.test(
  "a name that nobody told of is learned by the repository's number, and an older delivery takes it back never",
  async (t) => {
    const log = new SteppedLog({ picture: byAnn(), reviews: [] });
    connect(log.rows);
    const first = { repository, namedAtMs: T0 };
    log.actor.take(news({ number: 12, picture: byAnn({ repositoryId: NUMBER }), reviews: [] }, first));
    log.actor.take(
      news({ number: 13, picture: byAnn({ ...now, number: 13 }), reviews: [] }, { namedAtMs: T0 + 1_000 }),
    );
    t.same(log.stored.map((row) => `${row.repository}#${row.number}`).sort(), ["acme/renamed#12", "acme/renamed#13"]);
    log.actor.take(news({ branch: "x" }, first));
    t.match(listWarnings(log.rows), [/now calls this repository acme\/renamed/]);
    log.actor.take(news({ formerName: "acme/renamed" }, { repository, namedAtMs: T0 + 2_000 }));
    t.same(listWarnings(log.rows), [], "it may have its first name again");
  },
);

t.test("another repository that takes the old name is another one", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  connect(log.rows);
  log.actor.take(news({ number: 12, picture: byAnn({ repositoryId: NUMBER }), reviews: [] }, { repository }));
  log.actor.take(news({ formerName: repository }));
  const other = { repository, repositoryId: 2 };
  const to = findPullRequestLog(log.rows, workspaceId, { ...other, host });
  t.not(to.id, repository);
  const taken = stepByHand(pullRequestLogActor, to, { rows: log.rows, seed: 2 });
  taken.take(news({ number: 12, picture: byAnn({ ...other, title: "Another" }), reviews: [] }, other));
  t.match(log.stored.map((row) => `${row.repositoryId} ${row.repository} ${row.title}`).sort(), [
    `${NUMBER} acme/renamed Fix the login!`,
    `2 ${repository} Another`,
  ]);
  t.same(listWarnings(log.rows), [], "the line names the one that has the name");
});

t.test("a task's pull request keeps its row, branch and runs when its repository is renamed", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const looked = pr.woken("look");
  const told = pr.answer(looked, { problem: null, seen: "changed", picture: toPicture(now), reviews: [], etag: null });
  t.match(pr.row, { repository: "acme/renamed", repositoryId: NUMBER, checkout: repository, state: "open" });
  const log = stepLog(pr.rows);
  for (const { message, to } of told.sent) if (to.kind === "pull-request-log") log.take(message as Message);
  t.match(listWarnings(pr.rows), [/now calls this repository acme\/renamed/], "an answer alone tells the name");
  const asked = pr.ask();
  const [allowed] = toRuns(asked);
  t.match(allowed, { type: "pull-request.allowed", repository, branch }, "the run pushes from its own checkout");
  pr.pushed(head("b"));
  t.equal(findTaskBranch(pr.rows, workspaceId, { taskId, repository })?.head, head("b"));
  const byNewName = findTaskBranch(pr.rows, workspaceId, { taskId, repository: "acme/renamed" });
  t.equal(byNewName?.head, head("b"), "a line that names it anew goes on with the branch");
  const merged = log.take(news({ number: 12, picture: toPicture({ ...now, ...mergedAt(T0 + 9_000) }), reviews: [] }));
  for (const { message, to } of merged.sent) if (to.kind === "pull-request") pr.take(message);
  t.match(pullRequests.list(pr.rows, workspaceId), [{ state: "merged", repository: "acme/renamed" }]);
});

const toRuns = ({ sent }: TurnTaken) => sent.flatMap(({ to, message }) => (to.kind === "run" ? [message] : []));

t.test("a row that was stored without the repository's number is found by its name, and gets it", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  connect(log.rows);
  log.tell({ picture: byAnn(), reviews: [] });
  t.equal(log.stored[0]?.repositoryId, undefined);
  log.actor.take(news({ formerName: repository }));
  t.match(log.stored, [{ repository: "acme/renamed", repositoryId: NUMBER }]);
});
