import t from "tap";
import { IDEMPOTENCY_WINDOW_MS } from "../../../actors/resources/idempotency.table.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { RUNNER_FEATURES, type RunnerMessage } from "../../../actors/runners/protocol.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import { runners } from "../../../actors/runners/runner.table.js";
import { approvals, listOpenApprovals } from "../../../actors/runs/approval.table.js";
import type { RunContext, RunRow } from "../../../actors/runs/run.js";
import { runActor as createRunActor } from "../../../actors/runs/run.machine.js";
import type { StartRun } from "../../../actors/runs/run.messages.js";
import { runCheckouts, runs } from "../../../actors/runs/run.table.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { taskRunOwner } from "../../../actors/tasks/task-run-owner.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";
import { line, lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const runActor = createRunActor([taskRunOwner]);
const claim = { runId: "run_1", fence: 1 };
const now = 1_000_000;
const runner: RunnerRow = {
  runnerId: "runner_1",
  poolId: "pool_1",
  name: "peer",
  labels: [],
  harnesses: ["command"],
  slots: 1,
  features: RUNNER_FEATURES,
  connected: true,
  since: "",
};
const task: TaskRow = {
  id: "task_1",
  teamId,
  lineId,
  title: "Do it",
  description: "",
  url: "",
  station: "work",
  state: "queued",
  assignee: "usr_1",
  openedBy: { kind: "person", userId: "usr_1" },
  marks: {},
  pullRequest: null,
  runId: "run_1",
  asks: null,
  failure: null,
  openedAt: "",
  movedAt: "",
};
const [work] = line.stations;
const start = {
  type: "run.start",
  owner: { kind: "task", id: "task_1" },
  ownerAddress: address(workspaceId, "task", "task_1"),
  teamId,
  lineId,
  stationId: "sta_work",
  stationKey: "work",
  fingerprint: "f",
  config: { station: work, repositories: line.repositories, skills: [], profile: null },
  beginning: {
    line: { key: "dev", name: "Dev" },
    station: { name: "work", passesTo: ["review"], next: ["review"] },
    checkouts: [{ repository: "acme/app", base: null, diff: null }],
  },
  needs: { poolId: null, labels: [], harness: "command" },
} as unknown as StartRun;

const said = (message: Omit<RunnerMessage, "runId" | "fence"> & Record<string, unknown>, more = {}): Message =>
  ({ type: "run.said", runnerId: "runner_1", said: { ...claim, ...message }, ...more }) as Message;
const ended = { type: "run.ended", ending: null, failure: null, checkouts: [], check: null, spent: null };

/** One message of each kind that a run handles. */
const messages: Record<string, Message> = {
  start,
  claim: { type: "run.claim", runnerId: "runner_1" } as Message,
  "may start": { type: "gate.answered", gate: "run.starting", id: "run.starting 1", refused: null } as Message,
  "may not start": {
    type: "gate.answered",
    gate: "run.starting",
    id: "run.starting 1",
    refused: "not today",
  } as Message,
  started: said({ type: "run.started" }),
  step: said({ type: "run.step", step: { index: 0, kind: "message", text: "hi", tool: null, spent: null } }),
  handover: said({ type: "run.handover", id: "1-1", to: "review", note: "done" }),
  "bad handover": said({ type: "run.handover", id: "1-1", to: "nowhere", note: "" }),
  completed: said({ ...ended, outcome: "completed" } as never),
  failed: said({ ...ended, outcome: "failed" } as never),
  "handed over": said({
    ...ended,
    outcome: "completed",
    ending: { kind: "handover", to: "review", note: "" },
  } as never),
  undeliverable: { type: "job.undeliverable", fence: 1, why: "too large" } as Message,
  "another undeliverable": { type: "job.undeliverable", fence: 7, why: "too large" } as Message,
  "old fence": said({ type: "run.started", fence: 7 } as never),
  "another runner": said({ type: "run.started" }, { runnerId: "runner_2" }),
  speak: { type: "run.speak", by: "usr_1", text: "Use blue.", key: null } as Message,
  "speak by another": { type: "run.speak", by: "usr_2", text: "Use red.", key: null } as Message,
  "handover answered": { type: "gate.answered", gate: "handover.giving", id: "another", refused: null } as Message,
  permission: said({ type: "run.permission", id: "1-1", tool: "shell", inputs: "{}", reason: "" } as never),
  approve: { type: "approval.answer", by: "usr_1", approvalId: "apr_1", verdict: "approved" } as Message,
  heard: said({ type: "run.heard", n: 1 } as never),
  lost: { type: "claim.lost", runnerId: "runner_1" } as Message,
  "lost elsewhere": { type: "claim.lost", runnerId: "runner_2" } as Message,
  stop: { type: "run.end", outcome: "stopped", reason: "stop" } as Message,
  "no answer to the stop": { type: "woken", name: "stop", dueMs: now } as Message,
  "no answer, the service was down": { type: "woken", name: "stop", dueMs: now - 10_000 } as Message,
  withdraw: { type: "run.end", outcome: "withdrawn", reason: "closed" } as Message,
};

const paths: Record<string, readonly string[]> = {
  new: [],
  queued: ["start"],
  claimed: ["start", "claim"],
  assigned: ["start", "claim", "may start"],
  running: ["start", "claim", "may start", "started"],
  ended: ["start", "claim", "may start", "started", "completed"],
};

/**
 * State x message -> next state and outcome. The machine refuses each message that the table does not list for a state.
 */
const table: Record<string, Record<string, string>> = {
  // A claim may arrive after the run was removed. Then the run returns the claim.
  new: { start: "queued", claim: "new" },
  queued: {
    claim: "claimed",
    stop: "ended stopped",
    withdraw: "ended withdrawn",
    speak: "queued",
    approve: "queued",
    "speak by another": "queued",
    ...Object.fromEntries(
      [
        "started",
        "step",
        "heard",
        "permission",
        "handover",
        "bad handover",
        "completed",
        "failed",
        "handed over",
        "old fence",
        "another runner",
      ].map((name) => [name, "queued"]),
    ),
  },
  claimed: {
    "may start": "claimed",
    "may not start": "ended withdrawn",
    started: "running",
    step: "claimed",
    handover: "claimed",
    "bad handover": "claimed",
    completed: "ended completed",
    failed: "ended failed",
    "old fence": "claimed",
    "another runner": "claimed",
    lost: "ended abandoned",
    "handed over": "ended failed",
    undeliverable: "ended failed",
    speak: "claimed",
    heard: "claimed",
    "speak by another": "claimed",
    "handover answered": "claimed",
    permission: "claimed",
    approve: "claimed",
    "no answer to the stop": "ended stopped",
    "no answer, the service was down": "claimed",
    stop: "ended stopped",
    withdraw: "ended withdrawn",
  },
  assigned: {
    "may start": "claimed",
    "may not start": "ended withdrawn",
    started: "running",
    step: "claimed",
    handover: "claimed",
    "bad handover": "claimed",
    completed: "ended completed",
    failed: "ended failed",
    "old fence": "claimed",
    "another runner": "claimed",
    lost: "ended abandoned",
    "handed over": "ended failed",
    undeliverable: "ended failed",
    speak: "claimed",
    heard: "claimed",
    "speak by another": "claimed",
    "handover answered": "claimed",
    permission: "claimed",
    approve: "claimed",
    "no answer to the stop": "ended stopped",
    "no answer, the service was down": "claimed",
    stop: "claimed",
    withdraw: "ended withdrawn",
  },
  running: {
    "may start": "running",
    "may not start": "running",
    step: "running",
    handover: "running",
    "bad handover": "running",
    completed: "ended completed",
    failed: "ended failed",
    "old fence": "running",
    "another runner": "running",
    lost: "ended abandoned",
    stop: "running",
    withdraw: "ended withdrawn",
    "handed over": "ended failed",
    speak: "running",
    heard: "running",
    "speak by another": "running",
    "handover answered": "running",
    permission: "running",
    approve: "running",
    "no answer to the stop": "ended stopped",
    "no answer, the service was down": "running",
  },
  ended: {
    claim: "ended completed",
    speak: "ended completed",
    "speak by another": "ended completed",
    approve: "ended completed",
    ...Object.fromEntries(
      [
        "started",
        "step",
        "heard",
        "permission",
        "handover",
        "bad handover",
        "completed",
        "failed",
        "handed over",
        "old fence",
        "another runner",
      ].map((name) => [name, "ended completed"]),
    ),
  },
};

function run(path: readonly string[]): Stepping {
  const rows = memoryRows();
  putLine(rows);
  rows.put(tasks.key(workspaceId, "task_1"), task);
  runners.put(rows, workspaceId, "runner_1", runner);
  const stepping = stepByHand(runActor, address(workspaceId, "run", "run_1"), { rows, now });
  for (const name of path) if (!stepping.take(message(name)).taken) throw new Error(`${name} was refused`);
  return stepping;
}

function message(name: string): Message {
  const found = messages[name];
  if (found === undefined) throw new Error(name);
  return found;
}

const findRow = ({ rows }: Stepping): RunRow | undefined => runs.get(rows, workspaceId, "run_1");

for (const [state, path] of Object.entries(paths)) {
  for (const name of Object.keys(messages)) {
    const wanted = table[state]?.[name];
    t.test(`${state} x ${name}: ${wanted ?? "refused"}`, async (t) => {
      const stepping = run(path);
      const turn = stepping.take(message(name));
      t.equal(turn.taken, wanted !== undefined);
      if (wanted === undefined) return t.same(turn.intents, []);
      const outcome = findRow(stepping)?.outcome ?? null;
      t.equal(findRow(stepping)?.state ?? "new", stepping.value, "the row says what the machine does");
      t.equal([stepping.value, ...(outcome === null ? [] : [outcome])].join(" "), wanted);
    });
  }
}

t.test("a claim raises the fence and asks the gate before anything is sent to the runner", async (t) => {
  const stepping = run(["start"]);
  const turn = stepping.take(message("claim"));
  t.same(
    turn.questions.map(({ name }) => name),
    ["run.starting"],
  );
  t.same(turn.sent, []);
  t.equal(findRow(stepping)?.fence, 1);
  const assigned = stepping.take(message("may start"));
  t.match(assigned.sent, [
    { to: { kind: "runner", id: "runner_1" }, message: { message: { type: "run.assign", fence: 1 } } },
  ]);
});

t.test("a message with an old fence changes nothing and is answered with a drop of the claim", async (t) => {
  const stepping = run(["start", "claim", "may start"]);
  const before = JSON.stringify(findRow(stepping));
  const turn = stepping.take(message("old fence"));
  t.match(turn.sent, [{ message: { message: { type: "run.drop", fence: 7 } } }]);
  t.equal(JSON.stringify(findRow(stepping)), before);
});

t.test(
  "an answer to an approval is taken once under a key, whatever became of the run; another is refused",
  async (t) => {
    const stepping = run(["start", "claim", "may start", "started", "permission"]);
    const [open] = listOpenApprovals(stepping.rows, workspaceId, "run_1");
    const answer = (digest: string): Message => {
      const idempotency = { scope: "usr_1 approval.approve", key: "k", digest };
      return { ...message("approve"), approvalId: open?.id, edited: null, note: null, idempotency } as Message;
    };
    const first = stepping.take(answer("d"));
    t.match(first.answer, { approval: { id: open?.id, state: "approved" }, replayed: false });
    t.match(first.sent, [{ message: { message: { type: "run.permission-answered" } } }, { to: { kind: "task" } }]);
    for (const next of ["step", "completed"]) {
      const again = stepping.take(answer("d"));
      t.match(again, {
        answer: { approval: { id: open?.id, state: "approved" }, replayed: true },
        intents: { length: 0 },
      });
      t.match(stepping.take(answer("other")), {
        answer: { refused: "idempotency-key-reused" },
        intents: { length: 0 },
      });
      stepping.take(message(next));
    }
    t.match(stepping.take(answer("d")).answer, { replayed: true }, "once the run is over");
    stepping.now += IDEMPOTENCY_WINDOW_MS;
    t.match(stepping.take(answer("d")).answer, { refused: "conflict" }, "after a day");
    t.equal(approvals.list(stepping.rows, workspaceId, ["run_1"]).length, 1);
  },
);

t.test("a step is recorded once, by its index", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  stepping.take(message("step"));
  const again = stepping.take(message("step"));
  t.equal(findRow(stepping)?.steps, 1);
  t.same(again.changes, []);
});

t.test("a handover waits for its gate; one to a station that is none of the next is refused at once", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const asked = stepping.take(message("handover"));
  const [question] = asked.questions;
  t.match(question, { name: "handover.giving", work: { event: { to: "review", note: "done" } } });
  const stale = { type: "gate.answered", gate: "handover.giving", id: "handover.giving 1 0-0", refused: null };
  t.same(stepping.take(stale).sent, [], "an answer to another question is not passed on");
  const answered = stepping.take({ ...stale, id: question?.id ?? "", refused: "say more" } as Message);
  t.match(answered.sent, [{ message: { message: { type: "run.handover-answered", id: "1-1", refused: "say more" } } }]);
  const bad = stepping.take(message("bad handover"));
  t.same(bad.questions, []);
  t.match(bad.sent, [{ message: { message: { type: "run.handover-answered", refused: /choose review/ } } }]);
});

t.test("an end is reported once to the task and the dispatcher, and published once", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const turn = stepping.take(message("completed"));
  t.match(turn.facts, [{ name: "run.ended", work: { event: { outcome: "completed" } } }]);
  t.same(turn.sent.map(({ to, message: sent }) => `${to.kind} ${sent.type}`).sort(), [
    "dispatcher claim.release",
    "runner claim.ended",
    "task run.over",
  ]);
});

t.test("a handover ends the run only if it was accepted", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const answer = (refused: string | null) => {
    const [question] = stepping.take(message("handover")).questions;
    stepping.take({ type: "gate.answered", gate: "handover.giving", id: question?.id ?? "", refused } as Message);
  };
  answer("say more");
  t.same(findRow(stepping)?.handover, { to: "review", refused: "say more" });
  answer(null);
  t.same(findRow(stepping)?.handover, { to: "review", refused: null });
  stepping.take(message("handed over"));
  t.match(findRow(stepping), { outcome: "completed", ending: { kind: "handover", to: "review" } });

  const without = run(["start", "claim", "may start", "started"]);
  without.take(message("handed over"));
  t.match(findRow(without), { outcome: "failed", failure: { code: "runner-error", message: /not allowed/ } });
});

t.test("the cost of the steps adds up, until the runner reports the total", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const spend = (index: number, amount: number, currency: string) =>
    stepping.take(said({ type: "run.step", step: { ...step, index, spent: { amount, currency } } }));
  const step = { kind: "message", text: "hi", tool: null };
  spend(0, 0.25, "EUR");
  spend(1, 0.5, "EUR");
  spend(2, 9, "USD");
  t.same(findRow(stepping)?.spent, { amount: 0.75, currency: "EUR" });
  stepping.take(message("completed"));
  t.same(findRow(stepping)?.spent, { amount: 0.75, currency: "EUR" }, "a report without a sum takes nothing away");
});

t.test("a run whose job is too large for a frame fails with a reason, and frees the runner's slot", async (t) => {
  const stepping = run(["start", "claim", "may start"]);
  const turn = stepping.take(message("undeliverable"));
  t.match(findRow(stepping), { outcome: "failed", failure: { code: "not-supported", message: "too large" } });
  t.same(turn.sent.map(({ to, message: sent }) => `${to.kind} ${sent.type}`).sort(), [
    "dispatcher claim.release",
    "runner tell",
    "task run.over",
  ]);
});

t.test("a runner's report about a repository that it was not given is ignored", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const left = (repository: string) => ({ repository, base: "a".repeat(40), diff: "" });
  const checkouts = [left("acme/app"), left("acme/other"), left("x".repeat(3_000))];
  stepping.take(said({ ...ended, outcome: "completed", checkouts } as never));
  t.same(
    runCheckouts.list(stepping.rows, workspaceId, ["run_1"]).map(({ repository }) => repository),
    ["acme/app"],
  );
});

t.test("the end of a run in a closed workspace is reported to its task only", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  resources.remove(stepping.rows, workspaceId, "workspace", workspaceId);
  const turn = stepping.take(message("withdraw"));
  t.same(turn.facts, []);
  t.ok(turn.sent.some(({ message: { type } }) => type === "run.over"));
});

t.test("a run stored by a release without messages continues, and accepts messages", async (t) => {
  const before = run(["start", "claim", "may start", "started"]);
  const { said: _said, stopping: _stopping, hasAsked: _hasAsked, ...context } = before.context<RunContext>();
  const migrated = runActor.migrate?.({ value: "running", context }, 1);
  t.same(migrated, { value: "running", context: { ...before.context<RunContext>(), hasAsked: true } });
});

t.test("a runner that is told to stop has a minute, counted from the first time; then the run is over", async (t) => {
  const stepping = run(["start", "claim", "may start", "started"]);
  const first = stepping.take(message("stop"));
  t.match(first.wakes, [{ name: "stop", dueMs: now + 60_000 }]);
  t.same(stepping.take(message("stop")).intents, [], "it was told");
  const again = stepping.take(message("no answer, the service was down"));
  t.match(again.wakes, [{ name: "stop", dueMs: now + 60_000 }]);
  const over = stepping.take(message("no answer to the stop"));
  t.match(findRow(stepping), { outcome: "stopped", reason: /its runner did not answer/ });
  t.ok(
    over.sent.some(({ message: sent }) => JSON.stringify(sent).includes("run.drop")),
    "it is told that it is over",
  );
  t.match(stepping.take(message("completed")).sent, { length: 0 });
  t.equal(findRow(stepping)?.outcome, "stopped");

  const answered = run(["start", "claim", "may start", "started", "stop"]);
  t.same(answered.take(said({ ...ended, outcome: "stopped" } as never)).cancelledWakes, ["stop"]);
});

t.test("a run whose runner is lost while it stops was stopped: no other attempt is made", async (t) => {
  const stepping = run(["start", "claim", "may start", "started", "stop"]);
  stepping.take(message("lost"));
  t.match(findRow(stepping), { outcome: "stopped", reason: /lost in the meantime/ });
});

t.test("a claim of a run that was removed is given back, and nothing is stored", async (t) => {
  const stepping = run([]);
  const turn = stepping.take(message("claim"));
  t.match(turn.sent, [
    { to: { kind: "dispatcher" }, message: { type: "claim.release", runnerId: "runner_1", runId: "run_1" } },
  ]);
  t.same([turn.sent.length, turn.stopped, findRow(stepping)], [1, true, undefined]);
});
