import type { Reading } from "../../storage/store.js";
import { isOnTeam } from "../access/visibility/visibility.js";
import type { PersonCaller } from "../caller.js";
import type { ApprovalRow } from "../runs/approval.js";
import { approvals, listApprovalsFor, listUnassignedApprovals } from "../runs/approval.table.js";
import type { RunRow } from "../runs/run.js";
import type { VisibleRun } from "../runs/run.queries.js";
import { runs } from "../runs/run.table.js";
import { listMemberships } from "../workspaces/member.table.js";
import type { ToolCallRow } from "./tool-call.js";
import { toolCalls } from "./tool-call.table.js";

/** Selects a page of calls or approvals. */
interface Page {
  /** Lists only calls or approvals that are older than the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Lists the calls of a run, newest first. */
export function listToolCalls(reading: Reading, { workspaceId, run }: VisibleRun, page: Page): ToolCallRow[] {
  const { before, limit } = page;
  const place = before === undefined ? undefined : [before];
  return toolCalls.all(reading, workspaceId, { runId: run.id }, { limit, before: place });
}

/** Finds the call that an approval is about; undefined if the approval is not about a call. */
export function findCallOfApproval(
  reading: Reading,
  { workspaceId, run }: VisibleRun,
  approvalId: string,
): string | undefined {
  return approvals.get(reading, workspaceId, run.id, approvalId)?.callId;
}

/**
 * An approval with its run. The person may answer it now, or can answer it after an assignment of the task to that
 * person.
 */
export interface ApprovalOfPerson {
  readonly approval: ApprovalRow;
  readonly run: RunRow;
}

/** Lists the workspaces in which a person may have calls to approve. */
export function listApproversWorkspaces(reading: Reading, { userId }: PersonCaller): readonly string[] {
  return listMemberships(reading, userId).map(({ id }) => id);
}

/**
 * Adds the workspace's open approvals that a person may answer to `found`. Returns the newest `limit` approvals of the
 * combined list, newest first. Omits approvals of teams that the person has left.
 */
export function addOwnApprovals(
  reading: Reading,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  { found, ...page }: Page & { readonly found: readonly ApprovalOfPerson[] },
): readonly ApprovalOfPerson[] {
  const own = listApprovalsFor(reading, workspaceId, userId, page);
  return toNewest(found, withRuns(reading, { userId, workspaceId }, own), page);
}

/**
 * Adds the workspace's open approvals whose tasks have no assignee to `found`, as {@link addOwnApprovals} does. All
 * team members see these approvals and may assign the tasks. Yields between slices, so that other work can run.
 */
export function* addUnassignedApprovals(
  reading: Reading,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  { found, before, limit }: Page & { readonly found: readonly ApprovalOfPerson[] },
): Generator<undefined, readonly ApprovalOfPerson[]> {
  const fits = (approval: ApprovalRow) => withRuns(reading, { userId, workspaceId }, [approval]).length > 0;
  const page = { limit, before: before === undefined ? undefined : [before], fits };
  let slice = listUnassignedApprovals(reading, workspaceId, { ...page, cursor: null });
  const rows = [...slice.rows];
  while (slice.next !== null) {
    yield;
    slice = listUnassignedApprovals(reading, workspaceId, { ...page, cursor: slice.next });
    rows.push(...slice.rows);
  }
  return toNewest(found, withRuns(reading, { userId, workspaceId }, rows), { limit });
}

/** Adds the run to each approval. Omits approvals of teams that the person is not on. */
function withRuns(
  reading: Reading,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  found: readonly ApprovalRow[],
): ApprovalOfPerson[] {
  return found.flatMap((approval) => {
    const run = runs.get(reading, workspaceId, approval.runId);
    return run !== undefined && isOnTeam(reading, userId, workspaceId, run.teamId) ? [{ approval, run }] : [];
  });
}

function toNewest(
  found: readonly ApprovalOfPerson[],
  more: readonly ApprovalOfPerson[],
  { limit }: Pick<Page, "limit">,
): readonly ApprovalOfPerson[] {
  return [...found, ...more].sort((left, right) => (left.approval.id > right.approval.id ? -1 : 1)).slice(0, limit);
}
