import type { Reading } from "../../storage/store.js";
import { isOnTeam } from "../access/visibility.js";
import type { PersonCaller } from "../caller.js";
import type { ApprovalRow } from "../runs/approval.js";
import { approvals, listApprovalsOf } from "../runs/approval.table.js";
import type { RunRow } from "../runs/run.js";
import type { VisibleRun } from "../runs/run.queries.js";
import { runs } from "../runs/run.table.js";
import { listMemberships } from "../workspaces/member.table.js";
import type { ToolCallRow } from "./tool-call.js";
import { toolCalls } from "./tool-call.table.js";

/** Which calls of a run, or approvals. */
interface Page {
  /** Only those asked for before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The calls of a run, newest first. */
export function listToolCalls(reading: Reading, { workspaceId, run }: VisibleRun, page: Page): ToolCallRow[] {
  const { before, limit } = page;
  const place = before === undefined ? undefined : [before];
  return toolCalls.all(reading, workspaceId, { runId: run.id }, { limit, before: place });
}

/** The call that an approval is about; undefined when it is about none. */
export function findCallOfApproval(
  reading: Reading,
  { workspaceId, run }: VisibleRun,
  approvalId: string,
): string | undefined {
  return approvals.get(reading, workspaceId, run.id, approvalId)?.callId;
}

/** An approval that a person may give, with its run. */
export interface ApprovalOfPerson {
  readonly approval: ApprovalRow;
  readonly run: RunRow;
}

/** The workspaces that a person may have to approve calls in. */
export function listApproversWorkspaces(reading: Reading, { userId }: PersonCaller): readonly string[] {
  return listMemberships(reading, userId).map(({ id }) => id);
}

/**
 * The newest `limit` open approvals that a person may give: of those found so far, and of one more workspace. Newest
 * first. Not those of teams they left.
 */
export function addOwnApprovals(
  reading: Reading,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  { found, ...page }: Page & { readonly found: readonly ApprovalOfPerson[] },
): readonly ApprovalOfPerson[] {
  const more = listApprovalsOf(reading, workspaceId, userId, page).flatMap((approval): ApprovalOfPerson[] => {
    const run = runs.get(reading, workspaceId, approval.runId);
    return run !== undefined && isOnTeam(reading, userId, workspaceId, run.teamId) ? [{ approval, run }] : [];
  });
  return [...found, ...more]
    .sort((left, right) => (left.approval.id > right.approval.id ? -1 : 1))
    .slice(0, page.limit);
}
