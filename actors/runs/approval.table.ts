import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { Cursor, PageOptions, Slice } from "../tables/page-source.js";
import type { ApprovalRow } from "./approval.js";
import { approvalView } from "./approval.view.js";

/** The changes of a run's approvals, as the run's stream publishes them. */
const runTopic = topic<{ readonly type: "approval"; readonly approval: ReturnType<typeof approvalView> }>("run");

/** Key: `[run, approval]`. Ids increase with time. */
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

/**
 * Returns a page of a workspace's open approvals without an approver, newest first. Nobody can answer them until their
 * task has an assignee. In the worst case, reads all open approvals of the workspace.
 */
export function listUnassignedApprovals(
  reading: Reading,
  workspaceId: string,
  page: PageOptions<ApprovalRow> & { readonly cursor: Cursor<ApprovalRow> | null },
): Slice<ApprovalRow> {
  return approvals.page(reading, workspaceId, { approver: null, state: "open" }, page);
}

/**
 * Lists a workspace's open approvals that a person may answer, newest first. With `before`, lists only older approvals.
 */
export function listApprovalsFor(
  reading: Reading,
  workspaceId: string,
  approver: string,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): ApprovalRow[] {
  const page = { limit, before: before === undefined ? undefined : [before] };
  return approvals.all(reading, workspaceId, { approver, state: "open" }, page);
}
