import t from "tap";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { events } from "../../../actors/events/event-log.table.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { PullRequestRow } from "../../../actors/pull-requests/pull-request.js";
import { pullRequestRef } from "../../../actors/pull-requests/pull-request.messages.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { runCheckouts, runSteps, runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { findBlob } from "../../../actors/tables/blobs.js";
import { pin, unpin } from "../../../actors/tables/pins.js";
import { retentionEffect } from "../../../actors/tables/retention.effects.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { taskRef } from "../../../actors/tasks/task.messages.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { Writing } from "../../../storage/store.js";
import { Harness } from "../../support/harness.js";
import { pullRequestRow } from "../../support/pull-request-rows.js";
import { memoryRows, type Stepping, stepByHand, withTurn } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const DAY_MS = 24 * 60 * 60 * 1_000;
const opening = {
  type: "task.open",
  teamId,
  lineId,
  title: "Do it",
  description: "x".repeat(10_000),
  url: "",
  station: null,
  assignee: by,
  by,
} as Message;
const forget: Message = { type: "task.forget" };
const close = { type: "task.close", by } as Message;

/** Returns a closed task whose run has ended. */
function closedTask(): Stepping {
  const rows = memoryRows();
  putLine(rows);
  const stepping = stepByHand(taskActor, taskRef(workspaceId, "task_1"), { rows });
  stepping.take(opening);
  stepping.take(close);
  for (const { key } of events.entries(rows, workspaceId, [teamId])) rows.remove(key);
  putRun(rows, "run_1", stepping.now);
  return stepping;
}

function putRun(rows: Writing, id: string, now: number): void {
  const run = { id, taskId: "task_1", state: "ended", queuedAtMs: now, endedAt: new Date(now).toISOString() };
  rows.put(runs.key(workspaceId, id), run);
  rows.put([workspaceId, "row", "task-run", "task_1", id], true);
}

t.test("an ended task goes once nothing refers to it", async (t) => {
  const task = closedTask();
  const { stopped, sent } = task.take(forget);
  t.ok(stopped);
  t.match(sent[0], { to: { partition: workspaceId, kind: "run", id: "run_1" }, message: { type: "run.forget" } });
  t.equal(tasks.get(task.rows, workspaceId, "task_1"), undefined);
  t.equal(task.take({ type: "task.note", by, text: "late" } as Message).taken, false);
});

t.test("a task is kept while it is open, pinned, listed or asked about", async (t) => {
  const open = stepByHand(taskActor, taskRef(workspaceId, "task_1"), { rows: closedTask().rows });
  open.take({ ...opening } as Message);
  open.now += 900 * DAY_MS;
  t.equal(open.take(forget).stopped, false, "open");

  const kept = (what: string, change: (rows: Writing, task: Stepping) => void, undo: (rows: Writing) => void) => {
    const task = closedTask();
    task.now += 300 * DAY_MS;
    change(task.rows, task);
    t.equal(task.take(forget).stopped, false, what);
    undo(task.rows);
    t.equal(task.take(forget).stopped, true, `no longer ${what}`);
  };
  const by = "set_1";
  for (const of of [
    { of: "task", id: "task_1", by },
    { of: "run", id: "run_1", by },
  ]) {
    kept(
      `${of.of} pinned`,
      (rows) => pin(rows, workspaceId, of),
      (rows) => unpin(rows, workspaceId, of),
    );
  }
  const event = { workspaceId, teamId, occurrence: "occ_1", event: { at: "2026-01-01T00:00:00.000Z" } };
  kept(
    "listed",
    (rows) => rows.put(events.key(workspaceId, teamId, "occ_1"), event),
    (rows) => rows.remove(events.key(workspaceId, teamId, "occ_1")),
  );
  kept(
    "with a run under way",
    (rows) => rows.put(runs.key(workspaceId, "run_1"), { id: "run_1", taskId: "task_1", state: "running" }),
    (rows) => rows.put(runs.key(workspaceId, "run_1"), { id: "run_1", taskId: "task_1", state: "ended" }),
  );
  for (const state of ["vetting", "pushing", "opening", "open"] as const) {
    const own = pullRequestRow({ role: "own", taskId: "task_1", state });
    const put = (rows: Writing, before: PullRequestRow | null, row: PullRequestRow) =>
      withTurn(pullRequestRef(workspaceId, own.id), (turn) => pullRequests.put(turn, workspaceId, before, row), {
        rows,
      });
    kept(
      `with a pull request that is ${state}`,
      (rows) => put(rows, null, own),
      (rows) => put(rows, own, { ...own, state: "merged" }),
    );
  }
  const task = closedTask();
  task.now += 300 * DAY_MS;
  task.rows.remove([workspaceId, "row", "pin", "task", "task_1", "requests"]);
  const idempotency = { scope: "usr_1 note", key: "k", digest: "d" };
  task.take({ type: "task.note", by: "usr_1", text: "well done", idempotency } as Message);
  t.equal(task.take(forget).stopped, false, "asked about under a key");
  task.now += DAY_MS;
  t.equal(task.take(forget).stopped, true, "a day later");
  t.same(task.rows.range({ prefix: [workspaceId, "row", "pin"] }), [], "its pins go with it");
});

t.test("of a task of an earlier release the time begins when it is first seen", async (t) => {
  const task = closedTask();
  const key = tasks.key(workspaceId, "task_1");
  const { partSinceMs: _since, ...row } = tasks.get(task.rows, workspaceId, "task_1") ?? {};
  task.rows.put(key, row);
  task.now += 300 * DAY_MS;
  t.equal(task.take(forget).stopped, false);
  t.equal(tasks.get(task.rows, workspaceId, "task_1")?.partSinceMs, task.now);
});

t.test("a pinned run survives with its input, its steps and its diff; others go", async (t) => {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const harness = new Harness({ catalogue: {} });
  const effects = [retentionEffect({ clock: harness.world.clock })];
  const actors = createActorTypes(kinds, { retention: { ...defaultRetention, work: DAY_MS } });
  const rows = memoryRows();
  putLine(rows);
  const queued = harness.world.clock.now();
  for (const id of ["run_1", "run_2"]) {
    const run = {
      id,
      owner: { kind: "stack-check" },
      taskId: null,
      state: "ended",
      queuedAtMs: queued,
      endedAt: new Date(queued).toISOString(),
    };
    rows.put(runs.key(workspaceId, id), run);
    rows.put(runInputs.key(workspaceId, id), { runId: id, config: { skills: [] }, beginning: null, claimed: null });
    rows.put(runCheckouts.key(workspaceId, id, "acme/app"), {
      runId: id,
      repository: "acme/app",
      base: "b",
      digest: id,
    });
    rows.put([workspaceId, "row", "blob", id], new Uint8Array([1]));
    rows.put([workspaceId, "row", "blob-use", id], { count: 1, unusedSinceMs: null });
    for (let index = 0; index < 3; index++) rows.put(runSteps.key(workspaceId, id, index), { index, text: "" });
  }
  pin(rows, workspaceId, { of: "run", id: "run_1", by: "set_1" });
  const stored = harness.disk
    .open()
    .commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  await harness.advance();
  await stored;
  await harness.start({ actors, effects });
  await harness.ask(retentionRef(workspaceId), { type: "retention.begin" });
  await harness.advance(4 * DAY_MS);
  const { durable } = harness;
  const left = (id: string) => [
    runs.get(durable, workspaceId, id) !== undefined,
    runInputs.get(durable, workspaceId, id) !== undefined,
    runSteps.list(durable, workspaceId, [id]).length,
    runCheckouts.list(durable, workspaceId, [id]).length,
    findBlob(durable, workspaceId, id) !== undefined,
  ];
  t.same(left("run_1"), [true, true, 3, 1, true]);
  t.same(left("run_2"), [false, false, 0, 0, false]);
  t.same(harness.logged, []);
  harness.crash();
});
