import t from "tap";
import type { Caller } from "../../../actors/caller.js";
import { toBranch } from "../../../actors/config-pull-requests/config-pull-request.js";
import { configPullRequestActor } from "../../../actors/config-pull-requests/config-pull-request.machine.js";
import {
  configPullRequestRef,
  type PickCandidate,
} from "../../../actors/config-pull-requests/config-pull-request.messages.js";
import {
  configPullRequestRetention,
  configPullRequests,
  findPullRequestOf,
} from "../../../actors/config-pull-requests/config-pull-request.table.js";
import {
  configPullRequestSchema,
  configPullRequestView,
} from "../../../actors/config-pull-requests/config-pull-request.view.js";
import { pullRequestsLeavingSubscriber } from "../../../actors/config-pull-requests/pull-requests-leaving.js";
import type { LineFields } from "../../../actors/lines/line.js";
import { records } from "../../../actors/resources/change-record.table.js";
import { findResource, resources } from "../../../actors/resources/resource.table.js";
import { SliceBudget } from "../../../actors/tables/slice-budget.js";
import { address } from "../../../runtime/address.js";
import { configPullRequestRow } from "../../support/config-pull-request-rows.js";
import { memoryRows, stepByHand, withTurn } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const candidateId = "cand_01J0000000000000000ABCDEFG";
const person = (userId: string): Caller => ({
  kind: "person",
  userId,
  email: `${userId}@example.com`,
  sessionId: "ses_1",
});
const reader: Caller = {
  ...{ kind: "token", tokenId: "tok_1", workspaceId, scopes: ["read"], issuedBy: "usr_1", trust: null },
};
const self = address(workspaceId, "config-pull-request", candidateId);
const woken = { type: "woken", name: "open", dueMs: 0 };
const opened = { type: "pull-request.opened", url: "https://code.example/acme/infra/pull/7" };
const source = { repository: "acme/infra", path: "lines/dev.tf" };

function pick(more: Partial<PickCandidate> = {}): PickCandidate {
  return {
    ...{ type: "candidate.pick", caller: person("usr_1"), client: "browser" },
    candidate: {
      ...{ teamId, searchId: "srch_1", candidateId, candidateName: "careful", lineId },
      ...{ stationId: "sta_work", stationKey: "work" },
    },
    ...more,
  };
}

function keyed(key: string, digest = "d"): Partial<PickCandidate> {
  return { idempotency: { scope: "usr_1 pick", key, digest } };
}

function open() {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  const actor = stepByHand(configPullRequestActor, self, { rows });
  return {
    ...{ rows, actor },
    row: () => findPullRequestOf(rows, workspaceId, candidateId),
    opening: () => actor.take(woken),
    setSource: (to: LineFields["source"]) => {
      const line = findResource<LineFields>(rows, workspaceId, "line", lineId);
      if (line === undefined) throw new Error("there is no line");
      resources.put(rows, workspaceId, ["line", lineId], { ...line, fields: { ...line.fields, source: to } });
    },
    changes: () =>
      records.list(rows, workspaceId).map(({ resource, key, action, details }) => ({ resource, key, action, details })),
  };
}

t.test(
  "a pick opens it, and it is refused since nothing can be committed; each says so to the search's stream",
  async (t) => {
    const { actor, row, opening, setSource } = open();
    setSource(source);
    const picked = actor.take(pick());
    t.match(picked.answer, { isBegun: true, replayed: false, pullRequest: { state: "opening", attempts: 1, source } });
    t.same(picked.wakes, [{ name: "open", dueMs: actor.now }]);
    t.match(
      picked.changes.filter(({ topic }) => topic === "search/srch_1"),
      [{ data: { type: "config-pull-request", candidateId, pullRequest: { state: "opening", reason: null } } }],
    );
    const refused = opening();
    t.equal(actor.value, "refused");
    t.match(refused.changes, [{ topic: "search/srch_1", data: { pullRequest: { state: "refused" } } }]);
    const found = row();
    t.match(found, { state: "refused", url: null, reason: { code: "no-connection", attribute: null } });
    t.match(found?.id, /^cpr_/);
    if (found === undefined) return;
    const view = configPullRequestView(found);
    t.same(configPullRequestSchema.parse(view), view);
    t.match(view, { repository: "acme/infra", path: "lines/dev.tf", branch: "config/dev-work-careful-0ABCDEFG" });
  },
);

t.test("a line that names no source, or that is gone, has none to change", async (t) => {
  const { rows, actor, row, opening } = open();
  actor.take(pick());
  opening();
  const message = /names no source, and the service cannot commit to any repository yet.* no-connection\. .*by hand\.$/;
  t.match(row(), { source: null, reason: { code: "no-source", message } });
  resources.remove(rows, workspaceId, "line", lineId);
  actor.take(pick());
  opening();
  t.match(row(), { source: null, attempts: 2, reason: { code: "no-source" } });
});

t.test("picked again while it opens or is open, it is the same one, and nothing is recorded", async (t) => {
  const { actor, row, changes } = open();
  const first = actor.take(pick()).answer;
  const again = actor.take(pick({ caller: person("usr_2") }));
  t.match(again.answer, {
    isBegun: false,
    replayed: false,
    pullRequest: (first as { pullRequest: object }).pullRequest,
  });
  t.same(again.intents, []);
  actor.take(opened);
  t.match(row(), { state: "opened", url: opened.url, attempts: 1 });
  t.match(actor.take(pick()).answer, { isBegun: false, pullRequest: { state: "opened" } });
  t.equal(changes().length, 1);
  t.same(actor.take(woken).taken, false, "nothing refuses it then");
});

t.test(
  "picked again after a refusal it tries again, with the line's source of then, and the log says updated",
  async (t) => {
    const { actor, row, opening, setSource, changes } = open();
    actor.take(pick());
    opening();
    const before = row();
    setSource(source);
    actor.now += 1_000;
    t.match(actor.take(pick()).answer, {
      isBegun: true,
      pullRequest: { state: "opening", attempts: 2, reason: null, source },
    });
    opening();
    t.match(row(), {
      id: before?.id,
      branch: before?.branch,
      createdAt: before?.createdAt,
      reason: { code: "no-connection" },
    });
    t.not(row()?.updatedAt, before?.updatedAt);
    const details = { searchId: "srch_1", candidateId, candidateName: "careful" };
    t.same(changes(), [
      { resource: "config-pull-request", key: before?.branch, action: "created", details: { ...details, attempts: 1 } },
      { resource: "config-pull-request", key: before?.branch, action: "updated", details: { ...details, attempts: 2 } },
    ]);
  },
);

t.test("a pick repeated under its key is done once, whatever became of it", async (t) => {
  const { actor, row, opening, changes } = open();
  actor.take(pick(keyed("once")));
  opening();
  t.match(actor.take(pick(keyed("once"))).answer, { replayed: true, isBegun: true, pullRequest: { state: "refused" } });
  t.match(row(), { attempts: 1, state: "refused" });
  t.match(actor.take(pick(keyed("once", "another"))).answer, {
    refused: "idempotency-key-reused",
  });
  t.match(actor.take(pick(keyed("twice"))).answer, { replayed: false, pullRequest: { attempts: 2 } });
  t.equal(changes().length, 2);
});

t.test("whoever may not plan, or sees the team no more, picks nothing and leaves no actor", async (t) => {
  const { rows, actor, row } = open();
  const stranger = actor.take(pick({ caller: person("usr_3") }));
  t.match(stranger.answer, { refused: "not-found" });
  t.ok(stranger.stopped);
  t.match(actor.take(pick({ caller: reader })).answer, { refused: "unauthenticated" }, "no such token is there");
  resources.remove(rows, workspaceId, "team", teamId);
  t.match(actor.take(pick()).answer, { refused: "not-found" });
  t.equal(row(), undefined);
});

t.test("it is forgotten in any state: its row goes, and the candidate could be picked anew", async (t) => {
  for (const last of ["opening", "refused"]) {
    const { actor, row, opening } = open();
    actor.take(pick());
    if (last === "refused") opening();
    t.equal(actor.value, last);
    const { stopped } = actor.take({ type: "pull-request.forget" });
    t.ok(stopped);
    t.equal(row(), undefined);
  }
});

t.test("a branch is a legal name whatever the names are, and says its candidate", async (t) => {
  const of = (lineKey: string, candidateName: string) =>
    toBranch(lineKey, { stationKey: "work", candidateName, candidateId });
  t.equal(of("dev", "careful"), "config/dev-work-careful-0ABCDEFG");
  for (const name of ["a b", "a..b", "a~^:?*[b", "ends.", "@{", "x\u0000y", "é", "a.lock", "a".repeat(400)]) {
    const branch = of("dev", name);
    t.match(branch, /^config\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/, JSON.stringify(name));
    t.notMatch(branch, /\.\.|\.$|\.lock$|@\{/);
    t.ok(branch.length < 250);
  }
});

t.test("those of a team that was deleted and of a closed workspace are forgotten", async (t) => {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  configPullRequests.insert(rows, workspaceId, configPullRequestRow({ id: "cpr_1", candidateId: "cand_1" }));
  configPullRequests.insert(
    rows,
    workspaceId,
    configPullRequestRow({ id: "cpr_2", candidateId: "cand_2", teamId: "team_2" }),
  );
  const told = (fact: Parameters<typeof pullRequestsLeavingSubscriber.handle>[0]) =>
    withTurn(self, (turn) => pullRequestsLeavingSubscriber.handle(fact, turn), { rows }).sent.map(({ to }) => to.id);
  t.same(told({ name: "team.changed", id: teamId }), [], "the team is there");
  t.same(told({ name: "team.changed", id: "team_2" }), ["cand_2"]);
  t.same(told({ name: "workspace.closed", workspaceId }), ["cand_1", "cand_2"]);
});

t.test("one that was last picked long ago is forgotten, and none that opens", async (t) => {
  const rows = memoryRows();
  const now = Date.parse("2026-06-01T00:00:00.000Z");
  const add = (n: number, more: Partial<Parameters<typeof configPullRequestRow>[0]>) =>
    configPullRequests.insert(
      rows,
      workspaceId,
      configPullRequestRow({ id: `cpr_${n}`, candidateId: `cand_${n}`, ...more }),
    );
  add(1, {});
  add(2, { state: "opening", reason: null });
  add(3, { updatedAt: "2026-05-31T00:00:00.000Z", attempts: 2 });
  add(4, { state: "opened", reason: null, url: opened.url });
  const budget = new SliceBudget({ rows: 100, bytes: 1e6 });
  const slice = { cutoffMs: now - 7 * 24 * 60 * 60 * 1_000, from: null, budget };
  const { sent } = withTurn(self, (turn) => configPullRequestRetention.sweep(turn, slice), { rows, now });
  t.same(
    sent,
    [1, 4].map((n) => ({
      to: configPullRequestRef(workspaceId, `cand_${n}`),
      message: { type: "pull-request.forget" },
    })),
  );
});
