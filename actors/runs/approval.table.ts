import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { Cursor, PageOptions, Slice } from "../tables/page-source.js";
import { derivedRows } from "../tables/table-declaration.js";
import type { ApprovalRow } from "./approval.js";
import { approvalView } from "./approval.view.js";
import { waitEntries } from "./wait-index.js";

/** The changes of a run's approvals, as the run's stream publishes them. */
const runTopic = topic<{ readonly type: "approval"; readonly approval: ReturnType<typeof approvalView> }>("run");

/** The open approvals, the longest wait first (`wait-index.ts`). */
export const approvalWaits = table<string>("approval-wait");
/** Key: `[approval]`. Value: the approval's run. */
const approvalRuns = table<string>("approval-run");

/** Key: `[run, approval]`. Ids increase with time. */
export const approvals = indexedTable<ApprovalRow>("approval", {
  under: ["runId"],
  order: ["id"],
  indexes: {
    "approval-open": { by: ["runId"], only: { state: ["open"] } },
    "approval-approver": { by: ["approver", "runId"], only: { state: ["open"] }, has: ["approver"] },
  },
  derived: [
    waitEntries<ApprovalRow>(approvalWaits, ({ id, teamId, runId, state, approver, askedAt }) =>
      state === "open" ? { id, teamId, whom: approver, sinceMs: Date.parse(askedAt), runId } : null,
    ),
    { ...derivedRows(approvalRuns, ({ id, runId }: ApprovalRow) => [[[id], runId]]), isSame: () => true },
  ],
  changes: (approval) => [
    toChangeEntry(runTopic(approval.runId), { type: "approval", approval: approvalView(approval) }),
  ],
});

/** The open approvals of a run, oldest first. */
export const listOpenApprovals: (reading: Reading, workspaceId: string, runId: string) => ApprovalRow[] =
  approvals.under("approval-open");

/**
 * Returns a page of a workspace's open approvals that have no approver, newest first. Nobody can answer such an
 * approval until its task has an assignee. In the worst case, reads all open approvals of the workspace.
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

/** Finds the approval with this id in any run; undefined if there is none. */
export function findApproval(reading: Reading, workspaceId: string, id: string): ApprovalRow | undefined {
  const runId = approvalRuns.get(reading, workspaceId, id);
  return runId === undefined ? undefined : approvals.get(reading, workspaceId, runId, id);
}
