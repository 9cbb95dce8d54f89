import t from "tap";
import {
  type HostedPullRequest,
  hostedPullRequestSchema,
} from "../../../actors/outbound/code-host/hosted-pull-request.js";
import { pullRequestLogActor } from "../../../actors/pull-requests/pull-request-log.machine.js";
import { pullRequestLogRef } from "../../../actors/pull-requests/pull-request-log.messages.js";
import { pullRequestFacts } from "../../../actors/run-facts/pull-request-fact.table.js";
import { pushOrder } from "../../../actors/runners/push.js";
import { taskBranches } from "../../../actors/runs/task-branch.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import {
  branch,
  closedAt,
  findBranch,
  head,
  mergedAt,
  notes,
  repository,
  SteppedPullRequest,
  T0,
  taskId,
  told,
  toPicture,
  url,
} from "../../support/pull-request-scene.js";
import { stepByHand } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

t.test("hooks are asked before anything leaves; then the runner pushes and it is opened", async (t) => {
  const pr = new SteppedPullRequest();
  const asked = pr.ask({ changed: ["a.ts", ".github/workflows/ci.yml"] });
  t.same([pr.actor.value, asked.sent, asked.started], ["vetting", [], []]);
  t.match(asked.questions, [
    {
      name: "pull-request.opening",
      work: {
        run: { id: "run_1" },
        event: { repository, branch, title: "Fix the login!", changed: ["a.ts", /ci.yml/] },
      },
    },
  ]);
  const allowed = pr.answerGate(asked);
  t.equal(pr.actor.value, "pushing");
  t.match(allowed.sent, [
    { to: { kind: "task" }, message: { type: "pull-request.changed", pullRequestId: "pr_1" } },
    {
      to: { kind: "run", id: "run_1" },
      message: { type: "pull-request.allowed", branch, base: null, workflows: true },
    },
  ]);
  t.match(findBranch(pr), { pullRequestId: "pr_1", branch, head: null });
  const pushed = pr.pushed();
  t.equal(pr.actor.value, "opening");
  t.match(
    told(pushed),
    [{ repository, wish: null, url: null, refused: null }],
    "the run's end waits for the push only",
  );
  t.match(pushed.started, [
    { name: "pull-request-open", input: { branch, base: null, title: "Fix the login!", draft: false } },
  ]);
  t.match(findBranch(pr), { head: head("a") });
  const opened = pr.answer(pushed, { problem: null, pullRequest: toPicture() });
  t.equal(pr.actor.value, "open");
  t.match(pr.row, { state: "open", number: 12, url, head: head("a"), base: "main" });
  t.same(notes(opened), [`Pull request opened: ${url}`]);
  t.ok(opened.sent.some(({ to, message }) => to.kind === "task" && message.type === "pull-request.changed"));
  t.match(pullRequestFacts.list(pr.rows, workspaceId, [teamId]), [
    { endedDay: "open", state: "open", author: "service" },
  ]);
});

t.test("an agent that wished for it is told its address, or word for word why not", async (t) => {
  const pr = new SteppedPullRequest();
  pr.answerGate(pr.ask({ wish: "w1", title: "  My\n title\u0007 ", body: "Why." }));
  const pushed = pr.pushed();
  t.same(told(pushed), []);
  t.match(pushed.started, [{ input: { title: "My title", body: "Why." } }]);
  t.match(told(pr.answer(pushed, { problem: null, pullRequest: toPicture() })), [{ wish: "w1", url, refused: null }]);

  const refused = new SteppedPullRequest();
  const why = "Hook no-friday refused. Reason: it is Friday";
  const left = refused.answerGate(refused.ask({ wish: "w1" }), why);
  t.match(told(left), [{ wish: "w1", url: null, refused: why }]);
  t.same([refused.row, findBranch(refused), left.stopped, refused.actor.value], [undefined, undefined, true, "none"]);
});

t.test("nothing is begun where no connection reaches it, nothing changed, or too much did", async (t) => {
  const many = Array.from({ length: 3_000 }, (_, index) => `${index}.ts`);
  const cases: readonly [SteppedPullRequest, readonly string[], RegExp][] = [
    [new SteppedPullRequest({ isConnected: false }), ["a.ts"], /No connected installation .* access to acme\/app/],
    [new SteppedPullRequest(), [], /The run changed nothing/],
    [new SteppedPullRequest(), many, /The change is too large/],
  ];
  for (const [pr, changed, refused] of cases) {
    const asked = pr.ask({ changed });
    t.match(told(asked), [{ refused }]);
    t.same([asked.questions, pr.row, asked.stopped], [[], undefined, true]);
  }
});

t.test("a push that is not made is vetted once more; then it failed, and the next run begins again", async (t) => {
  const pr = new SteppedPullRequest();
  pr.answerGate(pr.ask());
  const again = pr.notPushed("conflict");
  t.match([pr.actor.value, again.questions], ["vetting", [{ work: { event: { changed: ["a.ts"] } } }]]);
  pr.answerGate(again);
  const failed = pr.notPushed("conflict", "The branch has moved.");
  t.equal(pr.actor.value, "failed");
  t.match(told(failed), [{ refused: "The branch has moved." }]);
  t.same(notes(failed), ["The pull request of acme/app could not be opened: The branch has moved."]);
  t.match(pr.take({ type: "pull-request.retry" }).answer, {
    refused: "conflict",
    detail: /not pushed. Retry the task/,
  });
  t.match(pr.ask({ runId: "run_2" }).questions, [{ work: { run: { id: "run_2" }, event: { branch } } }]);
});

t.test("a runner that is lost while it pushes, or before hooks answer, leaves no push behind", async (t) => {
  const pushing = new SteppedPullRequest();
  pushing.answerGate(pushing.ask());
  t.match(told(pushing.notPushed("lost")), [{ refused: "It failed." }]);
  t.equal(pushing.actor.value, "failed");
  const vetting = new SteppedPullRequest();
  const asked = vetting.ask();
  t.ok(vetting.notPushed("lost").stopped);
  t.notOk(vetting.answerGate(asked).taken, "the hooks' late answer allows nothing");
});

t.test("a code host that fails is asked eight times, by its branch first each time; then it failed", async (t) => {
  const pr = new SteppedPullRequest();
  let attempt = pr.opening();
  const waits: number[] = [];
  for (let count = 1; count < 8; count += 1) {
    const waiting = pr.answer(attempt, { problem: "again", why: "code.example answered with 502." });
    t.equal(pr.actor.value, "opening");
    waits.push((waiting.wakes[0]?.dueMs ?? 0) - pr.actor.now);
    attempt = pr.woken("open");
  }
  t.same(waits, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]);
  t.same(notes(pr.answer(attempt, { problem: "again", why: "code.example answered with 502." })), [
    "The pull request of acme/app could not be opened: code.example answered with 502.",
  ]);
  t.match([pr.actor.value, pr.row], ["failed", { problem: "code.example answered with 502." }]);
  const retried = pr.take({ type: "pull-request.retry" });
  t.match(retried.answer, { pullRequest: { id: "pr_1" } });
  pr.answer(retried, { problem: null, pullRequest: toPicture() });
  t.equal(pr.actor.value, "open");
});

t.test("a limit is waited for as long as it says, counts as no attempt, and the task says until when", async (t) => {
  const pr = new SteppedPullRequest();
  let attempt = pr.opening();
  const untilMs = pr.actor.now + 3_600_000;
  const lines: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    const waiting = pr.answer(attempt, { problem: "limited", untilMs, why: "code.example answered with 403." });
    t.same(waiting.wakes, [{ name: "open", dueMs: untilMs }]);
    lines.push(...notes(waiting));
    attempt = pr.woken("open");
  }
  t.match(lines, [/limits requests .* is retried after 2026-01-01T01:00:00.000Z\./]);
  t.equal(lines.length, 1, "it is said once");
  t.match(pr.row, { waitsUntil: "2026-01-01T01:00:00.000Z" });
  pr.answer(attempt, { problem: null, pullRequest: toPicture() });
  t.match([pr.actor.value, pr.row?.waitsUntil], ["open", null]);
});

t.test("what is refused failed at once", async (t) => {
  const pr = new SteppedPullRequest();
  pr.answer(pr.opening(), { problem: "refused", why: "code.example answered with 422 (no commits)." });
  t.match([pr.actor.value, pr.row], ["failed", { problem: /422/, head: head("a") }]);
});

t.test("a head that the code host does not know yet is asked for twice more, and then it failed", async (t) => {
  const refusal = {
    problem: "refused",
    why: "code.example answered with 422 (PullRequest head invalid).",
    fields: ["base", "head"],
  };
  const pr = new SteppedPullRequest();
  let attempt = pr.opening();
  for (const waitMs of [2_000, 4_000]) {
    t.same(pr.answer(attempt, refusal).wakes, [{ name: "open", dueMs: pr.actor.now + waitMs }]);
    attempt = pr.woken("open");
  }
  pr.answer(attempt, refusal);
  t.match([pr.actor.value, pr.row], ["failed", { problem: /head invalid/ }]);
  const other = new SteppedPullRequest();
  other.answer(other.opening(), { ...refusal, fields: ["base"] });
  t.equal(other.actor.value, "failed");
});

t.test("a delivery may come before the answer: it is the same pull request", async (t) => {
  const pr = new SteppedPullRequest();
  const attempt = pr.opening();
  t.same(notes(pr.seen({})), [`Pull request opened: ${url}`]);
  t.equal(pr.actor.value, "open");
  t.notOk(pr.answer(attempt, { problem: "again", why: "no answer" }).taken);
  t.match([pr.actor.value, pr.row], ["open", { number: 12 }]);
});

t.test("asked again, new paths are vetted again and others are pushed at once to the same branch", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const same = pr.ask({ runId: "run_2" });
  t.same([pr.actor.value, same.questions], ["pushing", []]);
  t.match(same.sent, [
    { message: { type: "pull-request.changed" } },
    { message: { type: "pull-request.allowed", branch } },
  ]);
  t.match(told(pr.pushed(head("b"), "run_2")), [{ url, refused: null }]);
  t.equal(pr.actor.value, "open");
  const more = pr.ask({ runId: "run_2", changed: ["b.ts"] });
  t.match(more.questions, [{ work: { event: { changed: ["a.ts", "b.ts"] } } }]);
  const refused = pr.answerGate(more, "no");
  t.match([pr.actor.value, told(refused)], ["open", [{ refused: "no" }]]);
  t.equal(refused.sent.filter(({ message }) => message.type === "pull-request.allowed").length, 0, "no token is made");
  const again = pr.ask({ runId: "run_2", changed: ["b.ts"] });
  t.equal(again.questions.length, 1, "what was refused is asked about again");
});

t.test("a merge is final and fires once, with the paths that the code host tells", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const merged = pr.seen(mergedAt(T0 + 5_000));
  t.match(merged.facts, [{ name: "pull-request.over", taskId, state: "merged", repository, url, atMs: T0 + 5_000 }]);
  t.match(findBranch(pr), { pullRequestId: null, head: null });
  t.same(pr.seen({ ...closedAt(T0 + 9_000) }).facts, []);
  t.match([pr.actor.value, pr.row?.mergeCommit], ["merged", head("e")]);
  const read = pr.answer(merged, { problem: null, files: ["a.ts", "c.ts"] });
  t.match(read.facts, [
    {
      name: "pull-request.merged",
      work: { run: null, event: { url, repository, mergeCommit: head("e"), changed: ["a.ts", "c.ts"] } },
    },
  ]);
  pr.take({ type: "pull-request.reverted", by: "https://code.example/acme/app/pull/13" });
  t.match(pr.row, { state: "merged", revertedBy: "https://code.example/acme/app/pull/13" });
  t.match(pullRequestFacts.list(pr.rows, workspaceId, [teamId]), [{ endedDay: "2026-01-01", isReverted: true }]);
});

t.test("where the code host does not tell what a merge changed, hooks are told what was pushed", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  let read = pr.seen(mergedAt(T0 + 5_000));
  for (let count = 1; count < 8; count += 1) {
    t.same(pr.answer(read, { problem: "again", why: "no answer" }).facts, []);
    read = pr.woken("files");
  }
  t.match(pr.answer(read, { problem: "again", why: "no answer" }).facts, [{ work: { event: { changed: ["a.ts"] } } }]);
});

t.test("closed and opened again: its decisions are discarded, the task's branch is gone on with", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  t.match(pr.seen(closedAt(T0 + 1_000)).facts, [{ name: "pull-request.over", state: "closed" }]);
  t.match(findBranch(pr), { pullRequestId: null, head: head("a"), branch });
  pr.seen({ updatedAtMs: T0 + 2_000 });
  t.match([pr.actor.value, findBranch(pr)], ["open", { pullRequestId: "pr_1" }]);
  t.match(pullRequestFacts.list(pr.rows, workspaceId, [teamId]), [{ endedDay: "open" }]);
});

t.test("what becomes of it when its task was removed leaves no branch behind", async (t) => {
  const pr = new SteppedPullRequest();
  const attempt = pr.opening();
  taskBranches.remove(pr.rows, workspaceId, taskId, repository);
  pr.answer(attempt, { problem: null, pullRequest: toPicture() });
  t.same([pr.actor.value, findBranch(pr)], ["open", undefined]);
  pr.seen(mergedAt(T0 + 5_000));
  t.same([pr.actor.value, findBranch(pr)], ["merged", undefined]);
});

t.test("an open one is looked at every hour by its tag, and when a person asks", async (t) => {
  const pr = new SteppedPullRequest();
  t.same(
    pr.open().wakes.map(({ name, dueMs }) => [name, dueMs - pr.actor.now]),
    [["look", 3_600_000]],
  );
  const looked = pr.woken("look");
  t.match(looked.started, [{ name: "pull-request-look", input: { number: 12, etag: null } }]);
  pr.answer(looked, {
    problem: null,
    seen: "changed",
    picture: toPicture({ updatedAtMs: T0 + 1 }),
    reviews: [],
    etag: 'W/"1"',
  });
  const again = pr.woken("look");
  t.match(again.started, [{ input: { etag: 'W/"1"' } }]);
  t.same(pr.answer(again, { problem: null, seen: "same" }).wakes.length, 1);
  const refreshed = pr.take({ type: "pull-request.refresh" });
  t.match([refreshed.answer, refreshed.started], [{ pullRequest: { id: "pr_1" } }, [{ input: { etag: null } }]]);
  t.notOk(pr.answer(again, { problem: null, seen: "gone" }).taken, "an earlier look says nothing any more");
  t.match(notes(pr.answer(refreshed, { problem: null, seen: "gone" })), [/no longer gives this service access to it/]);
  t.equal(pr.actor.value, "open");
});

t.test("an installation that is removed in the middle is a recorded state and a line", async (t) => {
  const gone = new SteppedPullRequest();
  const why = "code.example is no longer the code host of this service.";
  t.match(notes(gone.answer(gone.opening(), { problem: "refused", why })), [
    /could not be opened: .* no longer the code host/,
  ]);
  t.equal(gone.actor.value, "failed");
});

t.test(
  "a code host that does not answer is looked at less and less often, and one that refuses every hour",
  async (t) => {
    const pr = new SteppedPullRequest();
    pr.open();
    const waits: number[] = [];
    for (let count = 0; count < 14; count += 1) {
      const later = pr.answer(pr.woken("look"), { problem: "again", why: "code.example answered with 503." });
      waits.push((later.wakes[0]?.dueMs ?? 0) - pr.actor.now);
    }
    t.same(waits.slice(0, 3), [2_000, 4_000, 8_000]);
    t.same(waits.slice(-2), [3_600_000, 3_600_000]);
    const refused = pr.answer(pr.woken("look"), { problem: "refused", why: "code.example answered with 404." });
    t.match(notes(refused), [/no longer gives this service access to it/], "its installation was removed");
    t.match(refused.wakes, [{ name: "look", dueMs: pr.actor.now + 3_600_000 }]);
    const again = pr.answer(pr.woken("look"), { problem: "refused", why: "code.example answered with 404." });
    t.same([notes(again), again.wakes.length], [[], 1], "it is said once");
    pr.answer(pr.woken("look"), { problem: null, seen: "changed", picture: toPicture(), reviews: [], etag: null });
    const first = pr.answer(pr.woken("look"), { problem: "again", why: "no answer" });
    t.match([pr.row?.problem, first.wakes], [null, [{ dueMs: pr.actor.now + 2_000 }]]);
  },
);

t.test("a conflict with the base is a line, once, and stands until the code host knows better", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const look = (mergeable_state: string, more: Partial<HostedPullRequest> = {}) => {
    const picture = { ...toPicture(more), isDirty: hostedPullRequestSchema.parse(toJson(mergeable_state)).isDirty };
    return pr.answer(pr.woken("look"), { problem: null, seen: "changed", picture, reviews: [], etag: null });
  };
  const conflicts = /conflicts with its base: the next run of the task merges the base in/;
  t.match([notes(look("dirty")), pr.row?.isDirty, findBranch(pr)?.isDirty], [[conflicts], true, true]);
  // Deliveries nearly always report the mergeable state as `unknown`. A read of the pull request reports `unknown`
  // until the code host has computed the state.
  const unknown = [pr.seen({ updatedAtMs: T0 + 1_000, title: "Better" }), look("unknown"), look("dirty")];
  t.match([unknown.flatMap(notes), pr.row?.isDirty, findBranch(pr)?.isDirty], [[], true, true]);
  look("clean");
  t.match([pr.row?.isDirty, findBranch(pr)?.isDirty], [false, false]);
  look("dirty");
  look("unknown", closedAt(T0 + 5_000));
  t.match([pr.row?.isDirty, findBranch(pr)?.isDirty], [false, false], "what is over conflicts with nothing");
});

/** Returns a pull request in the form of the code host's API. */
function toJson(mergeable_state: string) {
  const at = new Date(T0).toISOString();
  const repo = { full_name: repository };
  return {
    number: 12,
    html_url: "https://code.example/acme/app/pull/12",
    title: "",
    body: null,
    user: null,
    state: "open",
    head: { ref: "fix", sha: head("a"), repo },
    base: { ref: "main", repo },
    created_at: at,
    updated_at: at,
    mergeable_state,
  };
}

t.test("whatever people make of its title and base, its runner is given what it takes", async (t) => {
  for (const [title, base] of [
    ["", "main"],
    ["\u{1f600}".repeat(256), "main"],
    [`x${"\u{1f600}".repeat(256)}`, "m".repeat(300)],
  ] as const) {
    const pr = new SteppedPullRequest();
    pr.open();
    pr.seen({ title, base, updatedAtMs: T0 + 1_000 });
    const allowed = pr.ask({ runId: "run_2" }).sent.find(({ message }) => message.type === "pull-request.allowed");
    const order = { ...allowed?.message, type: "run.push", runId: "run_2", fence: 1, id: "push_2", wish: null };
    const parsed = pushOrder.safeParse({ ...order, url: "https://code.example/acme/app.git", token: "t" });
    t.same([parsed.success, parsed.error?.issues], [true, undefined]);
    t.notMatch(parsed.data?.title, /[\uD800-\uDBFF]$/u, "no half of a character");
  }
});

t.test("a revert that is heard of before its merge is kept, and the code host asked", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const by = "https://code.example/acme/app/pull/13";
  const early = pr.take({ type: "pull-request.reverted", by });
  t.match([notes(early), early.started], [[], [{ name: "pull-request-look" }]]);
  const looked = { problem: null, seen: "changed", picture: toPicture(mergedAt(T0 + 5_000)), reviews: [], etag: null };
  t.match(notes(pr.answer(early, looked)), [/^Pull request merged/, /was reverted by .*\/13/]);
  t.match([pr.actor.value, pr.row], ["merged", { revertedBy: by }]);
});

t.test("a revert that names the commit of a merge not heard of yet is known with the merge", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const log = stepByHand(pullRequestLogActor, pullRequestLogRef(workspaceId, repository), { rows: pr.rows });
  const by = "https://code.example/acme/app/pull/13";
  const body = `This reverts commit ${head("e")}.`;
  const picture = toPicture({
    ...mergedAt(T0 + 9_000),
    number: 13,
    url: by,
    body,
    branch: "undo",
    mergeCommit: head("f"),
  });
  const news = { installationId: 7, repository, about: { number: 13, picture, reviews: [] } };
  log.take({ type: "host.news", host: "code.example", news } as Message);
  t.match(notes(pr.seen(mergedAt(T0 + 5_000))), [/^Pull request merged/, /was reverted by .*\/13/]);
  t.match(pr.row, { state: "merged", revertedBy: by });
});

t.test("opened again by hand, what an earlier attempt may have opened since is this one", async (t) => {
  const pr = new SteppedPullRequest();
  const attempt = pr.opening();
  const sinceMs = pr.actor.now;
  pr.answer(attempt, { problem: "refused", why: "no" });
  pr.actor.now += 3_600_000;
  t.match(pr.take({ type: "pull-request.retry" }).started, [{ name: "pull-request-open", input: { sinceMs } }]);
});
