import t from "tap";
import type { Caller } from "../../../actors/caller.js";
import { configPullRequestSchema, toBranch } from "../../../actors/config-pull-requests/config-pull-request.js";
import { configPullRequestActor } from "../../../actors/config-pull-requests/config-pull-request.machine.js";
import {
  configPullRequestRef,
  type PickCandidate,
} from "../../../actors/config-pull-requests/config-pull-request.messages.js";
import {
  configPullRequestRetention,
  configPullRequests,
  findPullRequestByCandidate,
} from "../../../actors/config-pull-requests/config-pull-request.table.js";
import { configPullRequestView } from "../../../actors/config-pull-requests/config-pull-request.view.js";
import { pullRequestsLeavingSubscriber } from "../../../actors/config-pull-requests/config-pull-requests.area.js";
import type { LineFields } from "../../../actors/lines/line.js";
import { records } from "../../../actors/resources/change-record.table.js";
import { findResource, resources } from "../../../actors/resources/resource.table.js";
import { SliceBudget } from "../../../actors/tables/slice-budget.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { configPullRequestRow } from "../../support/config-pull-request-rows.js";
import { connect, host } from "../../support/pull-request-scene.js";
import { memoryRows, stepByHand, type TurnTaken, withTurn } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const candidateId = "cand_01J0000000000000000ABCDEFG";
const person = (userId: string): Caller => ({
  kind: "person",
  userId,
  email: `${userId}@example.com`,
  sessionId: "ses_1",
});
const reader: Caller = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId,
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
};
const self = address(workspaceId, "config-pull-request", candidateId);
const url = "https://code.example/acme/infra/pull/7";
/** The code host's answer to a commit. */
const made = { commit: "a".repeat(40), base: "main", before: null };
const source = { repository: "acme/infra", path: "lines/dev.tf" };

function pick(more: Partial<PickCandidate> = {}): PickCandidate {
  return {
    type: "candidate.pick",
    caller: person("usr_1"),
    client: "browser",
    candidate: {
      teamId,
      searchId: "srch_1",
      candidateId,
      candidateName: "careful",
      lineId,
      stationId: "sta_work",
      stationKey: "work",
    },
    ...more,
  };
}

function keyed(key: string, digest = "d"): Partial<PickCandidate> {
  return { idempotency: { scope: "usr_1 pick", key, digest } };
}

/**
 * Creates a config pull request actor that a test steps by hand, for a line with a source. By default, a connection can
 * access the source's repository.
 */
function open(isConnected = true) {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  if (isConnected) connect(rows);
  const actor = stepByHand(configPullRequestActor, self, { rows });
  const woken = () => actor.take({ type: "woken", name: "open", dueMs: actor.now } as Message);
  /** Ends the effect that a turn started. The effect's result is `output`; if `output` is null, the effect fails. */
  const answer = ({ started: [effect] }: TurnTaken, output: object | null) => {
    const result = output === null ? { ok: false, error: "it broke" } : { ok: true, output };
    return actor.take({ type: "effect.ended", effect: effect?.name, id: effect?.id, result } as Message);
  };
  const setSource = (to: LineFields["source"]) => {
    const line = findResource<LineFields>(rows, workspaceId, "line", lineId);
    if (line === undefined) throw new Error("there is no line");
    resources.put(rows, workspaceId, ["line", lineId], { ...line, fields: { ...line.fields, source: to } });
  };
  setSource(source);
  return {
    rows,
    actor,
    woken,
    answer,
    setSource,
    row: () => findPullRequestByCandidate(rows, workspaceId, candidateId),
    open: () => answer(answer(woken(), { problem: null, ...made }), { problem: null, url }),
    changes: () =>
      records.list(rows, workspaceId).map(({ resource, key, action, details }) => ({ resource, key, action, details })),
  };
}

t.test("a pick opens it, step by step: the commit is stored before a branch of it is asked for", async (t) => {
  const world = open();
  const { actor, row } = world;
  const picked = actor.take(pick());
  t.match(picked.answer, { isBegun: true, replayed: false, pullRequest: { state: "opening", attempts: 1, source } });
  t.same(picked.wakes, [{ name: "open", dueMs: actor.now }]);
  t.match(
    picked.changes.filter(({ topic }) => topic === "search/srch_1"),
    [{ data: { type: "config-pull-request", candidateId, pullRequest: { state: "opening", reason: null } } }],
  );
  const asked = world.woken();
  const { id: _id, source: _source, ...named } = { ...row() };
  const branch = named.branch ?? "";
  const read = { host, installationId: 7, repository: source.repository, row: { candidateId, lineId, branch } };
  t.match(asked.started, [{ name: "config-commit", input: { ...read, path: source.path, made: { length: 0 } } }]);
  t.match(branch, /^config\/dev-work-careful-/);
  t.ok(branch.endsWith(row()?.id.slice(-8) ?? "none"));
  const committed = world.answer(asked, { problem: null, ...made });
  t.same(actor.context(), { tries: 1, pickedMs: actor.now, made, commits: [made.commit] });
  t.match(committed.started, [{ name: "config-pull-request-open", input: { ...read, ...made, sinceMs: actor.now } }]);
  const opened = world.answer(committed, { problem: null, url });
  t.equal(actor.value, "opened");
  t.match(opened.changes, [{ topic: "search/srch_1", data: { pullRequest: { state: "opened", url } } }]);
  const found = row();
  if (found === undefined) throw new Error("there is no row");
  const view = configPullRequestView(found);
  t.same(configPullRequestSchema.parse(view), view);
  t.match(view, { ...source, url, reason: null, waitsUntil: null });
});

t.test("without a source, or a connection that reaches it, nothing is asked and the reason is told", async (t) => {
  const world = open();
  const { rows, actor, row, setSource } = world;
  setSource(null);
  actor.take(pick());
  t.same(world.woken().started, []);
  t.match(row(), { state: "refused", source: null, reason: { code: "no-source", message: /has no source/ } });
  resources.remove(rows, workspaceId, "line", lineId);
  actor.take(pick());
  world.woken();
  t.match(row(), { source: null, attempts: 2, reason: { code: "no-source" } });
  const unconnected = open(false);
  unconnected.actor.take(pick());
  t.same(unconnected.woken().started, []);
  const message = /^No connected installation of the code host has access to acme\/infra\./;
  t.match(unconnected.row(), { reason: { code: "no-connection", message, attribute: null } });
});

t.test("what does not fit, and what the code host will not do, is refused with its reason", async (t) => {
  const reason = {
    code: "computed",
    message: "By a local.",
    attribute: "prompt",
    expression: "local.p",
    wanted: "Go.",
  };
  const long = { ...reason, wanted: "x".repeat(2_001), expression: "y".repeat(600) };
  const cases: readonly [object, object][] = [
    [{ problem: "unfit", reason }, reason],
    [
      { problem: "unfit", reason: long },
      { code: "computed", message: /config of each run/, wanted: null, expression: /^y{499}…$/ },
    ],
    [
      { problem: "refused", why: "It answered with 403." },
      { code: "no-access", message: /acme\/infra: .* 403\.$/ },
    ],
  ];
  for (const [answer, expected] of cases) {
    for (const step of ["commit", "open"]) {
      const world = open();
      world.actor.take(pick());
      const asked = world.woken();
      world.answer(step === "commit" ? asked : world.answer(asked, { problem: null, ...made }), answer);
      t.match(world.row(), { state: "refused", url: null, reason: expected });
    }
  }
});

t.test("a fault is tried eight times, ever later; a limit waits as long as it says, and counts as none", async (t) => {
  const world = open();
  const { actor, row } = world;
  actor.take(pick());
  const untilMs = actor.now + 1_800_000;
  let asked = world.woken();
  const limited = world.answer(asked, { problem: "limited", untilMs, why: "429" });
  t.same(limited.wakes, [{ name: "open", dueMs: untilMs }]);
  t.match(row(), { state: "opening", waitsUntil: new Date(untilMs).toISOString() });
  t.match(limited.changes, [{ topic: "search/srch_1" }], "and its stream says so");
  actor.now = untilMs;
  asked = world.woken();
  t.equal(row()?.waitsUntil, null);
  const waits: number[] = [];
  for (let n = 1; n < 8; n += 1) {
    const { wakes } = world.answer(asked, n % 2 === 0 ? null : { problem: "again", why: "It took too long." });
    waits.push((wakes[0]?.dueMs ?? 0) - actor.now);
    asked = world.woken();
  }
  t.same(
    waits,
    [2, 4, 8, 16, 32, 64, 128].map((seconds) => seconds * 1_000),
  );
  world.answer(asked, { problem: "again", why: "It took too long." });
  t.match(row(), { state: "refused", reason: { code: "no-connection", message: /^It took too long\. Pick/ } });
});

t.test("a step that is tried again goes on from the commit that is stored", async (t) => {
  const world = open();
  world.actor.take(pick());
  const committed = world.answer(world.woken(), { problem: null, ...made });
  world.answer(committed, { problem: "again", why: "502" });
  t.match(world.woken().started, [{ name: "config-pull-request-open", input: made }]);
});

t.test("an attempt after a refusal begins anew, and knows the commits of those before", async (t) => {
  const world = open();
  const { actor } = world;
  for (let n = 1; n <= 22; n += 1) {
    actor.take(pick());
    const asked = world.woken();
    t.match(asked.started, [{ input: { made: { length: Math.min(n - 1, 20) } } }]);
    const commit = { ...made, commit: String(n).padStart(40, "0") };
    world.answer(world.answer(asked, { problem: null, ...commit }), { problem: "refused", why: "403" });
  }
  t.equal(actor.value, "refused");
});

t.test("one that an earlier release stored goes on", async (t) => {
  const world = open();
  const { actor } = world;
  actor.take(pick());
  const { migrate } = configPullRequestActor;
  const state = migrate?.({ value: "opening", context: {} }, 1);
  actor.restore(state?.value, state?.context);
  t.match(world.woken().started, [{ name: "config-commit" }]);
});

t.test("picked again while it opens or is open, it is the same one, and nothing is recorded", async (t) => {
  const world = open();
  const { actor, row, changes } = world;
  const first = actor.take(pick()).answer;
  const again = actor.take(pick({ caller: person("usr_2") }));
  t.match(again.answer, {
    isBegun: false,
    replayed: false,
    pullRequest: (first as { pullRequest: object }).pullRequest,
  });
  t.same(again.intents, []);
  world.open();
  t.match(row(), { state: "opened", url, attempts: 1 });
  t.match(actor.take(pick()).answer, { isBegun: false, pullRequest: { state: "opened" } });
  t.equal(changes().length, 1);
  t.same(world.woken().taken, false, "nothing refuses it then");
});

t.test(
  "picked again after a refusal it tries again, with the line's source of then, and the log says updated",
  async (t) => {
    const { actor, row, woken, setSource, changes } = open();
    setSource(null);
    actor.take(pick());
    woken();
    const before = row();
    setSource(source);
    actor.now += 1_000;
    t.match(actor.take(pick()).answer, {
      isBegun: true,
      pullRequest: { state: "opening", attempts: 2, reason: null, source },
    });
    const { id, branch, createdAt } = before ?? {};
    t.match(row(), { id, branch, createdAt });
    t.not(row()?.updatedAt, before?.updatedAt);
    const details = { searchId: "srch_1", candidateId, candidateName: "careful" };
    t.same(changes(), [
      { resource: "config-pull-request", key: before?.branch, action: "created", details: { ...details, attempts: 1 } },
      { resource: "config-pull-request", key: before?.branch, action: "updated", details: { ...details, attempts: 2 } },
    ]);
  },
);

t.test("a pick repeated under its key is done once, whatever became of it", async (t) => {
  const { actor, row, woken, changes } = open(false);
  actor.take(pick(keyed("once")));
  woken();
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
    const { actor, row, woken } = open(false);
    actor.take(pick());
    if (last === "refused") woken();
    t.equal(actor.value, last);
    const { stopped } = actor.take({ type: "pull-request.forget" });
    t.ok(stopped);
    t.equal(row(), undefined);
  }
});

t.test("a branch is a legal name whatever the names are, and says its candidate and its pull request", async (t) => {
  const read = (lineKey: string, candidateName: string) =>
    toBranch({ lineKey, stationKey: "work", candidateName, id: "cpr_01J0000000000000000ABCDEFG" });
  t.equal(read("dev", "careful"), "config/dev-work-careful-0ABCDEFG");
  for (const name of ["a b", "a..b", "a~^:?*[b", "ends.", "@{", "x\u0000y", "é", "a.lock", "a".repeat(400)]) {
    const branch = read("dev", name);
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
  add(4, { state: "opened", reason: null, url });
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
