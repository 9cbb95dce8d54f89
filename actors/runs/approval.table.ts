import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { Cursor, PageOptions, Slice } from "../tables/page-source.js";
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

/**
 * A slice of the open approvals of a workspace that nobody may answer until their task is assigned, newest first; of
 * those that fit. Reads every open approval of the workspace at most.
 */
export function listUnassignedApprovals(
  reading: Reading,
  workspaceId: string,
  page: PageOptions<ApprovalRow> & { readonly cursor: Cursor<ApprovalRow> | null },
): Slice<ApprovalRow> {
  return approvals.page(reading, workspaceId, { approver: null, state: "open" }, page);
}

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
