import t from "tap";
import { codeHostConnections } from "../../../actors/code-host/connection.table.js";
import type { PullRequestRow } from "../../../actors/pull-requests/pull-request.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { runFacts } from "../../../actors/run-facts/run-fact.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { taskBranches } from "../../../actors/runs/task-branch.table.js";
import { taskNotes, tasks } from "../../../actors/tasks/task.table.js";
import { putMember } from "../../../actors/workspaces/member.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { pullRequestRow } from "../../support/pull-request-rows.js";
import { base, diff, SteppedWork } from "../../support/stepped-work.js";
import { type TurnTaken, withTurn } from "../../support/turn.js";
import { line, teamId, workspaceId } from "../../support/work.js";

const repository = "acme/app";

/**
 * A task on a line with one station: a run that finishes there ends the task. A connected installation can access the
 * task's repository.
 */
class Finishing extends SteppedWork {
  constructor(pullRequestTerms: object | null = null) {
    super();
    const [work] = line.stations;
    const stations = [{ ...work, passesTo: [] }];
    this.putLine({ stations, pullRequests: pullRequestTerms });
    this.inTurn((turn) =>
      codeHostConnections.insert(turn, workspaceId, {
        host: "code.example",
        installationId: 7,
        account: { login: "acme", kind: "organization" },
        state: "connected",
        connectedBy: "usr_1",
        connectedAtMs: 0,
        asOfMs: 0,
      }),
    );
    // The base class queued the first run before the installation existed. Move the task to queue a run that has the
    // installation.
    this.tell({ type: "task.move", by: "usr_1", to: "work" } as Message);
    this.claim();
    this.say({ type: "run.started" });
  }

  inTurn(work: Parameters<typeof withTurn>[1]): void {
    withTurn(address(workspaceId, "pull-request", "pr"), work, { rows: this.rows });
  }

  get task_() {
    return tasks.get(this.rows, workspaceId, "task_1");
  }

  /** Ends the agent's run with a change. */
  finish(change = diff): TurnTaken {
    const left = { failure: null, check: null, spent: null };
    const checkouts = [{ repository, base: base("b"), diff: change }];
    return this.say({
      type: "run.ended",
      outcome: "completed",
      ending: { kind: "finish", note: "" },
      checkouts,
      ...left,
    });
  }

  /**
   * Returns the id of the pull request that received a message from the turn; empty if the turn sent none to a pull
   * request.
   */
  toAsked(taken: TurnTaken): string {
    return taken.sent.find(({ to }) => to.kind === "pull-request")?.to.id ?? "";
  }

  /** Delivers a pull request's message to the run, and the run's resulting messages to the task. */
  tellRun(message: object): TurnTaken {
    const runId = this.runId;
    const taken = this.run(runId).take(message as Message);
    for (const { to, message: sent } of taken.sent) if (to.kind === "task") this.tell(sent);
    return taken;
  }

  allow(pullRequestId: string): TurnTaken {
    return this.tellRun({
      type: "pull-request.allowed",
      pullRequestId,
      push: "push_1",
      repository,
      host: "code.example",
      installationId: 7,
      branch: "signalbox/x",
      base: null,
      title: "Do it",
      workflows: false,
    });
  }

  told(pullRequestId: string, refused: string | null = null): TurnTaken {
    return this.tellRun({ type: "pull-request.told", pullRequestId, repository, wish: null, url: null, refused });
  }

  /** Updates the row of the task's pull request, and notifies the task. */
  become(id: string, more: Partial<PullRequestRow>): void {
    const before = pullRequests.get(this.rows, workspaceId, id) ?? null;
    const row = pullRequestRow({ id, teamId, role: "own", taskId: "task_1", ...(before ?? {}), ...more });
    this.inTurn((turn) => pullRequests.put(turn, workspaceId, before, row));
    this.tell({ type: "pull-request.changed", pullRequestId: id } as Message);
  }
}

const toRunner = ({ sent }: TurnTaken) =>
  sent.flatMap(({ to, message }) => (to.kind === "runner" && "message" in message ? [message.message] : []));

t.test("a run that finishes its task keeps its runner until its branch is pushed", async (t) => {
  const work = new Finishing();
  t.match(runInputs.get(work.rows, workspaceId, work.runId), { beginning: { push: true } });
  t.match(runs.get(work.rows, workspaceId, work.runId)?.needs.features, ["push"]);
  const held = work.finish();
  const id = work.toAsked(held);
  t.match(held.sent, [
    { to: { kind: "pull-request" }, message: { type: "pull-request.ask", repository, wish: null, changed: ["a"] } },
  ]);
  t.same([work.run().value, toRunner(held)], ["ending", []]);
  t.match(runs.get(work.rows, workspaceId, work.runId), { state: "running", ending: { kind: "finish" } });
  t.match(toRunner(work.allow(id)), [
    { type: "run.push", id: "push_1", wish: null, branch: "signalbox/x", host: "code.example" },
  ]);
  const pushed = work.say({ type: "run.pushed", id: "push_1", repository, head: base("c"), changed: ["a"] });
  t.match(pushed.sent, [{ to: { id }, message: { type: "pull-request.pushed", head: base("c") } }]);
  work.become(id, { state: "opening", number: null, url: null });
  const runId = work.runId;
  const over = work.told(id);
  t.match(toRunner(over), [{ type: "run.drop" }]);
  t.match(runs.get(work.rows, workspaceId, runId), {
    state: "ended",
    outcome: "completed",
    pullRequests: [{ refused: null }],
  });
  t.match(
    [work.task.value, work.task_],
    ["opening", { state: "running", asks: null }],
    "it waits for its pull request",
  );
  const finished = () => work.published.filter((name) => name === "task.finished").length;
  t.equal(finished(), 0, "nobody is told that it is done");
  work.become(id, { state: "open", number: 12, url: "https://code.example/acme/app/pull/12" });
  t.match([work.task.value, work.task_], ["done", { state: "done", pullRequest: { state: "open", number: 12 } }]);
  const outcome = () =>
    runFacts.list(work.rows, workspaceId, [teamId]).find((fact) => fact.runId === runId)?.taskOutcome;
  t.equal(outcome(), "other", "what is in an open pull request is not accepted yet");
  work.become(id, { state: "merged" });
  t.match([outcome(), work.task_], ["accepted", { state: "done", pullRequest: { state: "merged" } }]);
  t.equal(finished(), 1, "its end is told once");
  t.notOk(work.task.take({ type: "task.move", by: "usr_1", to: "work" } as Message).taken, "it is over");
});

t.test(
  "a done task whose pull request is open may be moved back or run again; closed, nothing was accepted",
  async (t) => {
    const outcomes: unknown[] = [];
    for (const then of ["task.move", "task.retry", "closed"]) {
      const work = new Finishing();
      const id = work.toAsked(work.finish());
      const { runId } = work;
      work.become(id, { state: "open", number: 12, url: "https://code.example/acme/app/pull/12" });
      work.told(id);
      t.equal(work.task.value, "done");
      if (then === "closed") work.become(id, { state: "closed" });
      else work.tell({ type: then, by: "usr_1", to: "work" } as Message);
      const fact = runFacts.list(work.rows, workspaceId, [teamId]).find((one) => one.runId === runId);
      outcomes.push([then, work.task.value, fact?.taskOutcome]);
    }
    t.same(outcomes, [
      ["task.move", "queued", "other"],
      ["task.retry", "queued", "other"],
      ["closed", "done", "other"],
    ]);
  },
);

t.test("a done task that runs again has no assignee any more when the person left the team meanwhile", async (t) => {
  for (const type of ["task.move", "task.retry"]) {
    for (const teams of [[teamId], []]) {
      const work = new Finishing();
      const id = work.toAsked(work.finish());
      work.become(id, { state: "open", number: 12, url: "https://code.example/acme/app/pull/12" });
      work.told(id);
      const member = { userId: "usr_1", email: "ada@example.com", role: "member", since: "" } as const;
      putMember(work.rows, workspaceId, { ...member, teams });
      work.tell({ type, by: "usr_2", to: "work" } as Message);
      const notes = taskNotes.list(work.rows, workspaceId, ["task_1"]).map(({ text }) => text);
      const left = "Its assignee left the team: the task now has no assignee.";
      t.same(
        [work.task.value, work.task_?.assignee, notes.filter((text) => text === left).length],
        teams.length > 0 ? ["queued", "usr_1", 0] : ["queued", null, 1],
      );
    }
  }
});

t.test("refused word for word, failed or lost: the task goes to its assignee, and says why", async (t) => {
  const refused = new Finishing();
  refused.told(refused.toAsked(refused.finish()), "Hook no-friday refused. Reason: it is Friday");
  t.match(refused.task_, {
    state: "inbox",
    asks: /acme\/app was not opened: Hook no-friday refused. Reason: it is Friday/,
  });

  const failed = new Finishing();
  const id = failed.toAsked(failed.finish());
  failed.become(id, { state: "opening", number: null, url: null });
  failed.told(id);
  failed.become(id, { state: "failed", problem: "code.example answered with 422." });
  t.match(
    [failed.task.value, failed.task_],
    ["inbox", { state: "inbox", asks: /answered with 422/, pullRequest: null }],
  );

  const lost = new Finishing();
  const asked = lost.toAsked(lost.finish());
  lost.allow(asked);
  const { runId } = lost;
  const over = lost.tellRun({ type: "claim.lost", runnerId: "runner_1" });
  t.match(over.sent, [
    { to: { kind: "pull-request", id: asked }, message: { type: "pull-request.not-pushed", problem: "lost" } },
  ]);
  t.match(runs.get(lost.rows, workspaceId, runId), { outcome: "completed" });
  t.match(lost.task_, { state: "inbox", asks: /The runner was lost before it pushed/ });
});

t.test("nothing is held where nothing is pushed: no change, never, or only when the agent asks", async (t) => {
  const cases: readonly [object | null, string][] = [
    [null, ""],
    [{ open: "agent", draft: false, base: null }, diff],
  ];
  for (const [terms, change] of cases) {
    const work = new Finishing(terms);
    t.match(toRunner(work.finish(change)), [{ type: "run.drop" }], "the runner lets go of the folder");
    t.equal(work.task.value, "done");
  }
  const never = new Finishing({ open: "never", draft: false, base: null });
  t.same(toRunner(never.finish()), [], "it kept none");
  t.equal(never.task.value, "done");
});

t.test("an agent's wish is carried to the pull request and back, one at a time for a repository", async (t) => {
  const work = new Finishing({ open: "agent", draft: false, base: null });
  const wish = { type: "run.pull-request", repository, title: "Mine", body: "Why", changed: ["a"] };
  const asked = work.say({ ...wish, id: "w1" });
  const id = work.toAsked(asked);
  t.match(asked.sent, [
    { message: { type: "pull-request.ask", wish: "w1", title: "Mine", body: "Why", changed: ["a"] } },
  ]);
  const answers = (taken: TurnTaken) => toRunner(taken);
  t.match(answers(work.say({ ...wish, id: "w2" })), [{ id: "w2", url: null, refused: /is already requested/ }]);
  t.match(answers(work.say({ ...wish, id: "w3", repository: "acme/other" })), [
    { refused: /does not work on acme\/other/ },
  ]);
  t.match(toRunner(work.allow(id)), [{ type: "run.push", wish: "w1" }]);
  const url = "https://code.example/acme/app/pull/12";
  const told = work.tellRun({
    type: "pull-request.told",
    pullRequestId: id,
    repository,
    wish: "w1",
    url,
    refused: null,
  });
  t.match(answers(told), [{ type: "run.pull-request-answered", id: "w1", url, refused: null }]);
  t.same(told.cancelledWakes, ["push"], "a push that is over is awaited no more, whoever said so");
  taskBranches.put(work.rows, workspaceId, ["task_1", repository], {
    pullRequestId: id,
    branch: "signalbox/x",
    base: null,
    head: base("c"),
    isDirty: false,
    serial: 1,
  });
  t.equal(work.toAsked(work.finish()), id, "what it changed since is pushed at its end, to the same pull request");
});

t.test("where agents alone ask, an unmet wish goes to the assignee, and one under way is awaited", async (t) => {
  const asks = { type: "run.pull-request", repository, title: "Mine", body: "", changed: ["a"] };
  const begin = (wishes: readonly (string | null)[]) => {
    const work = new Finishing({ open: "agent", draft: false, base: null });
    for (const [index, refused] of wishes.entries()) {
      const wish = `w${index}`;
      const pullRequestId = work.toAsked(work.say({ ...asks, id: wish }));
      const url = refused === null ? "https://code.example/acme/app/pull/12" : null;
      work.tellRun({ type: "pull-request.told", pullRequestId, repository, wish, url, refused });
    }
    return work;
  };
  const refused = "Hook no-friday refused. Reason: it is Friday";
  const cases: readonly [readonly (string | null)[], string, string][] = [
    [[refused], diff, "inbox"],
    [[refused, null], diff, "done"],
    [[null, refused], diff, "inbox"],
    [["The run changed nothing in acme/app."], "", "done"],
  ];
  for (const [wishes, change, state] of cases) {
    const work = begin(wishes);
    work.finish(change);
    t.equal(work.task.value, state, wishes.join());
    if (state === "inbox")
      t.match(work.task_, { asks: `The pull request of ${repository} was not opened: ${refused}` });
  }
  const work = begin([]);
  const id = work.toAsked(work.say({ ...asks, id: "w1" }));
  t.same([toRunner(work.finish()), work.run().value], [[], "ending"], "the runner keeps what it is to push");
  t.match(toRunner(work.allow(id)), [{ type: "run.push", wish: "w1" }]);
  const told = { type: "pull-request.told", pullRequestId: id, repository, wish: "w1", refused: null };
  const over = work.tellRun({ ...told, url: "https://code.example/acme/app/pull/12" });
  t.match(toRunner(over), [{ type: "run.pull-request-answered" }, { type: "run.drop" }]);
  t.equal(work.task.value, "done");

  const lost = begin([]);
  lost.toAsked(lost.say({ ...asks, id: "w1" }));
  lost.finish();
  lost.tellRun({ type: "claim.lost", runnerId: "runner_1" });
  t.match(lost.task_, { state: "inbox", asks: /The runner was lost before it pushed/ });
});

t.test("a push that is not reported in time is lost, unless the service was down meanwhile", async (t) => {
  const work = new Finishing();
  const id = work.toAsked(work.finish());
  const allowed = work.allow(id);
  const due = allowed.wakes.find(({ name }) => name === "push")?.dueMs ?? 0;
  work.run().now = due + 60_000;
  t.match(work.tellRun({ type: "woken", name: "push", dueMs: due }).wakes, [{ name: "push" }]);
  t.equal(work.run().value, "ending");
  const { runId } = work;
  work.tellRun({ type: "woken", name: "push", dueMs: due + 60_000 });
  t.match(runs.get(work.rows, workspaceId, runId), { state: "ended", outcome: "completed" });
  t.match(work.task_, { state: "inbox", asks: /did not confirm the push in time/ });
});
