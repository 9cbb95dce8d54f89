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
  indexes: {
    "approval-open": { by: ["runId"], only: { state: ["open"] } },
    "approval-approver": { by: ["approver", "runId"], only: { state: ["open"] }, has: ["approver"] },
  },
  changes: (approval) => [
    toChangeEntry(runTopic(approval.runId), { type: "approval", approval: approvalView(approval) }),
  ],
});

/** The open approvals of a run, oldest first. */
export const listOpenApprovals: (reading: Reading, workspaceId: string, runId: string) => ApprovalRow[] =
  approvals.under("approval-open");

/** Open approvals of a workspace that a person may answer, newest first; only those asked for before one, if it is given. */
export function listApprovalsOf(
  reading: Reading,
  workspaceId: string,
  approver: string,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): ApprovalRow[] {
  const page = { limit, before: before === undefined ? undefined : [before] };
  return approvals.all(reading, workspaceId, { approver, state: "open" }, page);
}
