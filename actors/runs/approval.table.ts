import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { ApprovalRow } from "./approval.js";
import { approvalView } from "./approval.view.js";

/** What the streams of a run publish of its approvals. */
const runTopic = topic<{ readonly type: "approval"; readonly approval: ReturnType<typeof approvalView> }>("run");

/** `[run, approval]`; ids rise with time */
export const approvals = indexedTable<ApprovalRow>("approval", {
  under: ["runId"],
  order: ["id"],
  indexes: { "approval-open": { by: ["runId"], only: { state: ["open"] } } },
  changes: (approval) => [
    toChangeEntry(runTopic(approval.runId), { type: "approval", approval: approvalView(approval) }),
  ],
});

/** The open approvals of a run, oldest first. */
export function listOpenApprovals(reading: Reading, workspaceId: string, runId: string): ApprovalRow[] {
  return approvals.all(reading, workspaceId, { runId, state: "open" }).reverse();
}
