import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { approvals, listApprovalsFor } from "../../../actors/runs/approval.table.js";
import type { Entry, KeyPart } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const row = (table: string, id: readonly KeyPart[], value: object): Entry => ({
  key: [workspaceId, "row", table, ...id],
  value,
});
const approval = (id: string, runId: string, state: string) =>
  row("approval", [runId, id], { id, runId, kind: "permission", request: "1", tool: "shell", inputs: "{}", state });

t.test("open approvals of an earlier release are found by the assignee of their task", async (t) => {
  const then = [
    row("task", ["task_1"], { id: "task_1", assignee: "usr_1" }),
    row("task", ["task_2"], { id: "task_2", assignee: null }),
    row("run", ["run_1"], { id: "run_1", taskId: "task_1" }),
    row("run", ["run_2"], { id: "run_2", taskId: "task_2" }),
    ...[approval("apr_1", "run_1", "open"), approval("apr_2", "run_1", "approved"), approval("apr_3", "run_2", "open")],
    approval("apr_4", "run_gone", "open"),
  ];
  const rows = memoryRows();
  const step = migrations.find(({ to }) => to === 11);
  if (step === undefined) throw new Error("the step is gone");
  for (const { key, value } of await stepped(step, then)) rows.put(key, value);
  t.same(
    approvals.list(rows, workspaceId).map(({ id, approver }) => [id, approver]),
    [
      ["apr_1", "usr_1"],
      ["apr_2", "usr_1"],
      ["apr_3", null],
      ["apr_4", null],
    ],
  );
  const found = listApprovalsFor(rows, workspaceId, "usr_1", { limit: 10 });
  t.same(
    found.map(({ id }) => id),
    ["apr_1"],
  );
});
