import { readFileSync } from "node:fs";
import t from "tap";
import { type HostedNews, toHostedNews } from "../../../actors/code-host/hosted-news.js";
import type { HostedReview } from "../../../actors/outbound/code-host/hosted-pull-request.js";
import { pullRequestView } from "../../../actors/pull-requests/pull-request.view.js";
import { pullRequestLogActor } from "../../../actors/pull-requests/pull-request-log.machine.js";
import { pullRequestLogRef } from "../../../actors/pull-requests/pull-request-log.messages.js";
import { findReverts } from "../../../actors/pull-requests/pull-request-log.transitions.js";
import { pullRequestFacts } from "../../../actors/run-facts/pull-request-fact.table.js";
import { reviewFacts } from "../../../actors/run-facts/review-fact.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import {
  closedAt,
  head,
  host,
  mergedAt,
  repository,
  SteppedPullRequest,
  T0,
  toPicture,
} from "../../support/pull-request-scene.js";
import { ann, byAnn, type News, SteppedLog } from "../../support/stepped-log.js";
import { memoryRows, stepByHand } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const bea = { login: "bea", isPerson: true };
const review = (atMs: number, commit: string, by = bea): HostedReview => ({ by, atMs, commit });

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

t.test("in any order, twice or with some missed, the deliveries of a pull request give the same row", async (t) => {
  const last = byAnn({ ...mergedAt(T0 + 5_000), title: "Better", head: head("c") });
  const reviews = [review(T0 + 2_000, head("a")), review(T0 + 1_000, head("a"), ann), review(T0 + 4_000, head("b"))];
  const told: readonly News[] = [
    { picture: byAnn(), reviews: [] },
    { picture: byAnn({ updatedAtMs: T0 + 2_000 }), reviews: reviews.slice(0, 2) },
    { picture: byAnn({ updatedAtMs: T0 + 2_000, title: "Better" }), reviews: [] },
    { picture: byAnn({ updatedAtMs: T0 + 4_000, title: "Better", head: head("b") }), reviews: reviews.slice(2) },
    { picture: last, reviews: [] },
  ];
  const truth = { picture: last, reviews };
  const wanted = new SteppedLog(truth);
  for (const each of told) wanted.tell(each);
  t.match(wanted.known, [
    {
      state: "merged",
      title: "Better",
      head: head("c"),
      teamId,
      role: "people",
      mergeCommit: head("e"),
      firstReviewAt: new Date(T0 + 2_000).toISOString(),
      reviewedCommits: [head("a"), head("b")],
    },
  ]);
  for (const order of permutations(told)) {
    const log = new SteppedLog(truth);
    for (const each of [...order, ...order]) log.tell(each);
    t.same(log.known, wanted.known);
  }
  const missed = new SteppedLog(truth);
  for (const each of told.slice(1, 3)) missed.tell(each);
  t.equal(missed.asked, 1, "two of the same time that differ are asked about");
  t.same(missed.known, wanted.known);
});

t.test("one row a pull request of people for each team with a line on the repository, and its fact", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  t.equal(log.tell({ picture: byAnn(), reviews: [] }).answer, true);
  log.tell({ picture: byAnn(closedAt(T0 + 86_400_000)), reviews: [] });
  t.match(log.stored.map(pullRequestView), [
    { role: "people", taskId: null, state: "closed", author: "ann", rounds: 0 },
  ]);
  t.match(pullRequestFacts.list(log.rows, workspaceId, [teamId]), [
    { endedDay: "2026-01-02", state: "closed", author: "people" },
  ]);
  const elsewhere = stepByHand(pullRequestLogActor, pullRequestLogRef(workspaceId, "acme/other"), {
    rows: memoryRows(),
  });
  const news: HostedNews = {
    installationId: 7,
    repository: "acme/other",
    about: { number: 1, picture: byAnn(), reviews: [] },
  };
  const unused = elsewhere.take({ type: "host.news", host, news } as Message);
  t.same([unused.answer, unused.started], [false, []], "no line works on it");
});

t.test(
  "what is about a task's pull request goes to it: by its number, or by its branch while it is opened",
  async (t) => {
    const pr = new SteppedPullRequest();
    pr.opening();
    const log = new SteppedLog({ picture: toPicture(), reviews: [] }, pr.rows);
    const stranger = byAnn({ branch: pr.row?.branch ?? "", from: "ann/app", number: 13 });
    const strange: HostedNews = {
      installationId: 7,
      repository,
      about: { number: 13, picture: stranger, reviews: [] },
    };
    t.same(
      log.actor.take({ type: "host.news", host, news: strange } as Message).sent,
      [],
      "a fork may have such a branch too",
    );
    const found = log.tell({ picture: toPicture(), reviews: [] });
    t.match(found.sent, [{ to: { kind: "pull-request", id: "pr_1" }, message: { type: "pull-request.seen" } }]);
    for (const { message } of found.sent) pr.take(message);
    t.match([pr.actor.value, pr.row?.number], ["open", 12]);
    const pushed: HostedNews = { installationId: 7, repository, about: { branch: pr.row?.branch ?? "" } };
    t.match(log.actor.take({ type: "host.news", host, news: pushed } as Message).sent, [
      { message: { picture: null } },
    ]);
    const reached: HostedNews = { installationId: 7, repository, about: "reach" };
    t.match(log.actor.take({ type: "host.news", host, news: reached } as Message).sent, [{ to: { id: "pr_1" } }]);
  },
);

t.test("a merged pull request that reverts another says so of it", async (t) => {
  const log = new SteppedLog({ picture: byAnn(), reviews: [] });
  log.tell({ picture: byAnn(mergedAt(T0 + 1_000)), reviews: [] });
  const url = `https://${host}/acme/app/pull/13`;
  const revert = byAnn({
    ...mergedAt(T0 + 9_000),
    number: 13,
    url,
    body: "Reverts acme/app#12",
    mergeCommit: head("f"),
  });
  const news: HostedNews = { installationId: 7, repository, about: { number: 13, picture: revert, reviews: [] } };
  log.actor.take({ type: "host.news", host, news } as Message);
  t.match(
    log.stored.map(({ number, revertedBy }) => [number, revertedBy]),
    [
      [12, url],
      [13, null],
    ],
  );
});

t.test(
  "reviews and comments of people and bots are facts, in whatever order and however often they are told",
  async (t) => {
    const bot = { login: "lint[bot]", isPerson: false };
    const approved = { ...review(T0 + 2_000, head("a")), id: 1, verdict: "approved" } as const;
    const { verdict: _dismissed, ...dismissed } = approved;
    const begun = { by: bot, atMs: T0 + 3_000, commit: null, id: 2, thread: { isResolved: false, asOfMs: T0 + 3_000 } };
    const resolved = { ...begun, thread: { isResolved: true, asOfMs: T0 + 9_000 } };
    const answer = { by: ann, atMs: T0 + 86_400_000, commit: null, id: 3 };
    const nameless = review(T0 + 1_000, head("a"));
    const told = [[approved], [dismissed], [begun], [resolved], [answer], [nameless]];
    const none = { verdict: null, thread: null };
    const wanted = [
      {
        kind: "comment",
        login: "lint[bot]",
        by: "bots",
        isAuthor: false,
        day: "2026-01-01",
        ...none,
        thread: resolved.thread,
      },
      { kind: "review", login: "bea", by: "people", isAuthor: false, day: "2026-01-01", ...none, verdict: "approved" },
      { kind: "comment", login: "ann", by: "people", isAuthor: true, day: "2026-01-02", ...none },
    ];
    for (const order of [told, told.toReversed()]) {
      const log = new SteppedLog({ picture: byAnn(), reviews: [] });
      for (const reviews of [...order, ...order]) log.tell({ picture: byAnn(), reviews });
      const facts = reviewFacts.list(log.rows, workspaceId, [teamId]);
      t.match(facts, wanted);
      t.equal(facts.length, wanted.length, "one that an earlier release stored has no number");
      t.same(
        [...new Set(facts.map(({ pullRequestId }) => pullRequestId))],
        log.stored.map(({ id }) => id),
      );
    }
  },
);

t.test("a revert is known in whatever order it, what it reverts and its merge are told", async (t) => {
  const url = `https://${host}/acme/app/pull/13`;
  for (const body of ["Reverts acme/app#12", `This reverts commit ${head("e")}.`]) {
    const revert = byAnn({ ...mergedAt(T0 + 9_000), number: 13, url, body, mergeCommit: head("f") });
    const told = [byAnn(), byAnn(mergedAt(T0 + 5_000)), revert];
    for (const order of permutations(told)) {
      const log = new SteppedLog({ picture: byAnn(mergedAt(T0 + 5_000)), reviews: [] });
      for (const picture of order) log.tell({ picture, number: picture.number, reviews: [] });
      const known = log.stored.map(({ number, state, revertedBy }) => [number, state, revertedBy]);
      t.same(
        new Map(known.map(([number, ...rest]) => [number, rest])),
        new Map([
          [12, ["merged", url]],
          [13, ["merged", null]],
        ]),
      );
      const facts = pullRequestFacts.list(log.rows, workspaceId, [teamId]);
      t.same(
        facts.filter(({ isReverted }) => isReverted).map(({ number }) => number),
        [12],
      );
    }
  }
});

t.test("texts name reverts by number in the repository, and by commit", async (t) => {
  const text = `Reverts acme/app#12, Reverts other/app#13.\nThis reverts commit ${head("e")}. Reverts #14`;
  t.same(findReverts(text, "Acme/App"), { numbers: [12, 14], commits: [head("e")] });
  t.same(findReverts("Reverts nothing", repository), { numbers: [], commits: [] });
});

t.test("news of what is no such event are none", async (t) => {
  for (const json of [null, [], {}, { pull_request: 1 }, { installation: { id: 1 }, repository: {} }]) {
    for (const event of ["pull_request", "push", "installation_repositories", "star"])
      t.same(toHostedNews(event, json), []);
  }
});

interface Examples {
  readonly name: string;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
}

t.test("the payloads that GitHub publishes as examples are read whole, with their reviews", async (t) => {
  const file = "node_modules/@octokit/webhooks-examples/api.github.com/index.json";
  const all = JSON.parse(readFileSync(file, "utf8")) as readonly Examples[];
  const listNews = (name: string) =>
    all
      .filter((one) => one.name === name)
      .flatMap(({ examples }) => examples.flatMap((each) => toHostedNews(name, { installation: { id: 1 }, ...each })));
  const counts = {
    pull_request: 29,
    pull_request_review: 4,
    pull_request_review_comment: 5,
    pull_request_review_thread: 3,
  };
  for (const [name, count] of Object.entries(counts)) {
    const news = listNews(name);
    t.equal(news.length, count, name);
    for (const { about } of news) t.match(about, { picture: { state: /open|closed|merged/ } });
  }
  t.equal(
    listNews("pull_request_review").filter(({ about }) => JSON.stringify(about).includes('"reviews":[{')).length,
    4,
  );
  const threads = listNews("pull_request_review_thread").flatMap(({ about }) =>
    about !== "reach" && "reviews" in about ? about.reviews.map(({ id, thread }) => [id, thread?.isResolved]) : [],
  );
  t.same(threads, [
    [820_867_280, true],
    [284_312_630, true],
    [284_312_630, false],
  ]);
});

t.test("those of people end with the same rows in any order, told twice, with some told late", async (t) => {
  const file = "node_modules/@octokit/webhooks-examples/api.github.com/index.json";
  const all = JSON.parse(readFileSync(file, "utf8")) as readonly Examples[];
  const told = all.flatMap(({ name, examples }) =>
    examples.flatMap((each) =>
      toHostedNews(name, { installation: { id: 7 }, ...each }).flatMap(({ about }) =>
        about !== "reach" && "number" in about && about.picture !== null ? [about] : [],
      ),
    ),
  );
  const numbers = [...new Set(told.map(({ picture }) => `${picture?.repository}#${picture?.number}`))];
  t.same([told.length, numbers.length], [41, 2], "deliveries, of so many pull requests");
  for (const number of numbers) {
    const each = told.flatMap(({ picture, reviews }) =>
      picture !== null && `${picture.repository}#${picture.number}` === number
        ? [{ picture: { ...picture, repository, number: 12 }, reviews }]
        : [],
    );
    const pictures = each.map(({ picture }) => picture).sort((left, right) => left.updatedAtMs - right.updatedAtMs);
    const picture = pictures.findLast(({ state }) => state === "merged") ?? pictures.at(-1);
    if (picture === undefined) continue;
    const truth = { picture, reviews: each.flatMap(({ reviews }) => reviews) };
    const known = (order: typeof each) => {
      const log = new SteppedLog(truth);
      for (const news of order) log.tell(news);
      return log.known;
    };
    const wanted = known(each);
    t.match(wanted, [{ number: 12, role: "people" }], number);
    const kept = each.filter((_, index) => index % 3 !== 0);
    t.same(known([...kept, ...kept, ...each.toReversed()]), wanted, number);
    t.same(known([...each.toReversed(), ...each]), wanted, number);
  }
});
