import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import type { ApprovalRow } from "../../../actors/runs/approval.js";
import { approvals, findApproval } from "../../../actors/runs/approval.table.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import type { Entry, KeyPart } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const row = (table: string, id: readonly KeyPart[], value: object): Entry => ({
  key: [workspaceId, "row", table, ...id],
  value,
});
const AT = "2026-03-01T10:00:00.000Z";
const task = (id: string, more: Partial<TaskRow>) => {
  const of = { id, teamId: "team_1", assignee: "usr_1", state: "inbox", runId: null, failure: null, movedAt: AT };
  return row("task", [id], { ...of, ...more });
};
const run = (id: string, state: string, outcome: string | null) =>
  row("run", [id], { id, teamId: "team_1", taskId: "task_1", state, outcome });
const approval = (id: string, state: string, approver: string | null) =>
  row("approval", ["run_live", id], { id, runId: "run_live", state, approver, askedAt: AT, tool: "shell" });

t.test("what waited for a person in an earlier release is indexed as if it were written now", async (t) => {
  const failure = { code: "harness-failed", message: "It broke.", output: "" } as const;
  const then = [
    run("run_live", "running", null),
    run("run_asked", "ended", "completed"),
    run("run_failed", "ended", "failed"),
    task("task_1", { runId: "run_live" }),
    task("task_2", { runId: "run_asked", partSinceMs: 1_772_000_000_000 }),
    task("task_3", { runId: "run_failed", failure, assignee: null }),
    task("task_4", { state: "queued", runId: "run_asked" }),
    task("task_5", { runId: "run_gone" }),
    approval("apr_1", "open", "usr_1"),
    approval("apr_2", "approved", "usr_1"),
    approval("apr_3", "open", null),
  ];
  const step = migrations.find(({ title }) => title === "what waits for a person is indexed by team and person");
  if (step === undefined) throw new Error("the step is gone");
  const now = await stepped(step, then);
  const rows = memoryRows();
  for (const { key, value } of now) rows.put(key, value);
  t.same(
    tasks.list(rows, workspaceId).map(({ id, waits }) => [id, waits?.kind, waits?.sinceMs]),
    [
      ["task_1", undefined, undefined],
      ["task_2", "question", 1_772_000_000_000],
      ["task_3", "failure", Date.parse(AT)],
      ["task_4", undefined, undefined],
      ["task_5", "question", Date.parse(AT)],
    ],
  );
  t.equal(findApproval(rows, workspaceId, "apr_2")?.teamId, "team_1");
  const isOf = (tables: readonly string[]) => (entry: Entry) => tables.includes(String(entry.key[2]));
  const expected = [
    ...approvals
      .list(rows, workspaceId)
      .flatMap((each: ApprovalRow) => approvals.listDependents(rows, workspaceId, each)),
    ...tasks.list(rows, workspaceId).flatMap((each) => tasks.listDependents(rows, workspaceId, each)),
  ].filter(isOf(["approval-wait", "approval-run", "task-wait"]));
  const text = (entries: readonly Entry[]) => entries.map((entry) => JSON.stringify(entry)).sort();
  t.same(text(now.filter(isOf(["approval-wait", "approval-run", "task-wait"]))), text(expected));
});
