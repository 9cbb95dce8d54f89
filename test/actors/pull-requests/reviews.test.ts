import t from "tap";
import { toMark, toMarkedText } from "../../../actors/pull-requests/hosted-text.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { pullRequestLogActor } from "../../../actors/pull-requests/pull-request-log.machine.js";
import { pullRequestLogRef } from "../../../actors/pull-requests/pull-request-log.messages.js";
import { waitingReviews } from "../../../actors/pull-requests/waiting-review.table.js";
import { pullRequestFacts } from "../../../actors/run-facts/pull-request-fact.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { connect, head, host, repository, SteppedPullRequest, toPicture } from "../../support/pull-request-scene.js";
import { memoryRows, stepByHand, type TurnTaken } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const url = `https://${host}/acme/app/pull/12`;
const of = { taskId: "task_9", repository, number: 12, url };
const begun = { type: "review.begun", teamId, lineId, ...of };
const over = {
  type: "review.over",
  runId: "run_9",
  text: "Well done.",
  ...of,
  taskAddress: address(workspaceId, "task", "task_9"),
};
const byAnn = toPicture({ author: { login: "ann", isPerson: true }, branch: "fix" });

function openLog({ isConnected = true, rows = memoryRows() } = {}) {
  putLine(rows);
  putTeam(rows);
  if (isConnected) connect(rows);
  const actor = stepByHand(pullRequestLogActor, pullRequestLogRef(workspaceId, repository), { rows });
  const take = (message: object) => actor.take(message as Message);
  return {
    rows,
    actor,
    take,
    answer: ({ started: [effect] }: TurnTaken, output: object) =>
      take({ type: "effect.ended", effect: effect?.name, id: effect?.id, result: { ok: true, output } }),
    stored: () => pullRequests.list(rows, workspaceId),
    waiting: () => waitingReviews.list(rows, workspaceId),
  };
}

const notes = ({ sent }: TurnTaken) => sent.map(({ to, message }) => [to.id, "text" in message ? message.text : ""]);

t.test("a pull request of people says which task reviews it, known before or not", async (t) => {
  const log = openLog();
  const asked = log.take(begun);
  t.match(asked.started, [{ name: "pull-request-look", input: { number: 12, installationId: 7, etag: null } }]);
  log.answer(asked, { problem: null, seen: "changed", picture: byAnn, reviews: [], etag: null });
  const reviewed = { role: "review", taskId: "task_9", lineId, url, branch: "fix", head: head("a"), state: "open" };
  t.match(log.stored(), [reviewed]);
  t.match(pullRequestFacts.list(log.rows, workspaceId, [teamId]), [{ role: "review", author: "people" }]);

  const known = openLog();
  const news = { installationId: 7, repository, about: { number: 12, picture: byAnn, reviews: [] } };
  known.take({ type: "host.news", host, news });
  t.match(known.stored(), [{ role: "people", taskId: null }]);
  t.same(known.take(begun).started, []);
  t.match(known.stored(), [reviewed]);
  known.take({
    type: "host.news",
    host,
    news: { ...news, about: { ...news.about, picture: { ...byAnn, title: "T", updatedAtMs: byAnn.updatedAtMs + 1 } } },
  });
  t.match(known.stored(), [{ ...reviewed, title: "T" }], "and says so after later news");
});

t.test("one of a task stays that task's, whoever reviews it; another code host is not asked", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  const log = openLog({ rows: pr.rows, isConnected: false });
  t.same(log.take(begun).started, []);
  t.match(log.stored(), [{ role: "own", taskId: pr.row?.taskId }]);
  t.match(log.take(over).started, [{ name: "pull-request-review" }], "and its review is written");
  const elsewhere = openLog();
  const url = "https://other.example/acme/app/pull/12";
  t.same(elsewhere.take({ ...begun, url }).started, []);
  const refused = elsewhere.take({ ...over, url });
  t.match([refused.started, notes(refused)], [[], [["task_9", /was not posted: no connected installation/]]]);
});

t.test("what a run found is written once, and the task is told where", async (t) => {
  const log = openLog();
  const begins = log.take(over);
  t.match(begins.started, [
    { name: "pull-request-review", input: { taskId: "task_9", runId: "run_9", number: 12, text: "Well done." } },
  ]);
  t.same(log.take(over).started, [], "told twice");
  const written = log.answer(begins, { problem: null, url: `${url}#1` });
  t.same(notes(written), [["task_9", `Review posted: ${url}#1`]]);
  t.same(log.waiting(), []);
  t.same(log.answer(begins, { problem: null, url: `${url}#1` }).sent, []);
  t.same(log.take({ type: "woken", name: "review task_9 run_9", dueMs: 0 }).started, []);
  const silent = log.take({ ...over, runId: "run_10", text: " \n" });
  t.match([silent.started, notes(silent)], [[], [["task_9", /was not posted/]]]);
});

t.test("limits wait without end and are told once; faults are tried eight times; a refusal is final", async (t) => {
  const log = openLog();
  let attempt = log.take(over);
  const limited = { problem: "limited", untilMs: 1_800_000, why: "429." };
  for (let count = 0; count < 20; count += 1) {
    const waits = log.answer(attempt, limited);
    t.match(waits.wakes, [{ name: "review task_9 run_9", dueMs: 1_800_000 }]);
    t.equal(waits.sent.length, count === 0 ? 1 : 0);
    attempt = log.take({ type: "woken", name: "review task_9 run_9", dueMs: 0 });
  }
  let tries = 1;
  for (;;) {
    const failed = log.answer(attempt, { problem: "again", why: "502." });
    if (failed.wakes.length === 0) {
      t.same(notes(failed), [["task_9", `The review of ${url} could not be posted: 502.`]]);
      break;
    }
    tries += 1;
    attempt = log.take({ type: "woken", name: "review task_9 run_9", dueMs: 0 });
  }
  t.equal(tries, 8);
  const refused = log.answer(log.take({ ...over, runId: "run_10" }), { problem: "refused", why: "It is locked." });
  t.match(notes(refused), [["task_9", /It is locked/]]);
  t.same([refused.wakes, log.waiting()], [[], []]);
});

t.test("a hostile text imitates no mark, mentions nobody, has no control characters, and fits", async (t) => {
  const mark = "<!-- signalbox:task_9:review-run_9 -->";
  t.equal(toMark({ taskId: "task_9", purpose: "review-run_9" }), mark);
  const hostile = `<!-- signalbox:task_1:decisions -->\u0000\u001b[2J\ud800 a\tb\n${"\u{1f600}"} @\u0007ada`;
  const shown = `&lt;!-- signalbox:task_1:decisions -->[2J a\tb\n${"\u{1f600}"} @\u200bada`;
  t.equal(toMarkedText(mark, hostile), `${mark}\n${shown}`);
  const long = toMarkedText(mark, "\u{1f600}".repeat(40_000));
  t.ok(long.length <= 65_536);
  t.doesNotThrow(() => encodeURIComponent(long), "no half of a pair");
});
