import { expected } from "../../storage/expected.js";
import type { Reading } from "../../storage/store.js";
import { refuseTeamWork } from "../access/members/team-work.js";
import { permit, seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findOwningWorkspace } from "../resources/resource-location.table.js";
import type { RepositoryCommit } from "../runners/commit-frames.js";
import type { ApprovalRow } from "./approval.js";
import { approvals, listOpenApprovals } from "./approval.table.js";
import type { RunRow } from "./run.js";
import { runs } from "./run.table.js";
import { listBases, runBases, runInputs } from "./run-input.table.js";

/** Whether the run exists in the workspace and the caller may read its progress. */
export function seesRun(reading: Reading, caller: Caller, workspaceId: string, runId: string): boolean {
  const run = runs.get(reading, workspaceId, runId);
  return run !== undefined && seesOutcomes(reading, caller, workspaceId, run.teamId);
}

/**
 * A team id that no team has. Callers may read outcomes under this id only if they may read the outcomes of all teams.
 */
const NO_TEAM = "";

/** A run whose outcomes the caller may read. */
export interface VisibleRun {
  readonly workspaceId: string;
  readonly run: RunRow;
}

/** Whether the run's agent waits for a person's approval of a call. */
export function waitsForPerson(reading: Reading, workspaceId: string, runId: string): boolean {
  return listOpenApprovals(reading, workspaceId, runId).length > 0;
}

/** Finds a run. Refuses with `not-found` unless the caller may read the outcomes of the run's team. */
export function findVisibleRun(reading: Reading, caller: Caller, runId: string): VisibleRun | Refusal {
  const workspaceId = findOwningWorkspace(reading, "run", runId);
  if (workspaceId === undefined || permit(reading, caller, workspaceId, "read", "run") !== null) {
    return { refused: "not-found" };
  }
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined) expectNotLost(reading, caller, workspaceId, runId);
  const sees = run !== undefined && seesOutcomes(reading, caller, workspaceId, run.teamId);
  return sees ? { workspaceId, run } : { refused: "not-found" };
}

/**
 * Throws `damaged` if the run's input is stored, but the run's row is lost. Does nothing for callers who may not read
 * the outcomes of all teams, because the team of a lost run is unknown.
 */
function expectNotLost(reading: Reading, caller: Caller, workspaceId: string, runId: string): void {
  if (runInputs.get(reading, workspaceId, runId) === undefined) return;
  if (seesOutcomes(reading, caller, workspaceId, NO_TEAM)) expected(undefined, runs.key(workspaceId, runId));
}

/** Finds a run for members of its team. Refuses other readers with `forbidden`. */
export function findRunToWorkOn(reading: Reading, caller: Caller, runId: string): VisibleRun | Refusal {
  const found = findVisibleRun(reading, caller, runId);
  if (isRefusal(found)) return found;
  const { workspaceId, run } = found;
  return refuseTeamWork(reading, caller, { workspaceId, teamId: run.teamId }) ?? found;
}

/** A runner's claim of a run. */
export interface RunnerClaim {
  readonly runnerId: string;
  readonly runId: string;
  readonly fence: number;
}

/** Returns the run if the runner holds it by this claim and the run has not ended; otherwise undefined. */
export function findClaimedRun(
  reading: Reading,
  workspaceId: string,
  { runnerId, runId, fence }: RunnerClaim,
): RunRow | undefined {
  const run = runs.get(reading, workspaceId, runId);
  const isClaimed = run !== undefined && run.state !== "ended" && run.runnerId === runnerId && run.fence === fence;
  return isClaimed ? run : undefined;
}

/**
 * Whether the runner holds the run by this claim, and the run's input lists the commit as a starting commit or as a
 * commit to merge.
 */
export function holdsRunFrom(
  reading: Reading,
  workspaceId: string,
  claim: RunnerClaim,
  { repository, commit }: RepositoryCommit,
): boolean {
  if (findClaimedRun(reading, workspaceId, claim) === undefined) return false;
  const input = runInputs.get(reading, workspaceId, claim.runId);
  const bases = input === undefined ? [] : listBases(input);
  return bases.some((base) => base.repository === repository && base.commit === commit);
}

/**
 * Returns the digest of an attachment if the runner holds the run and the run's brief lists the attachment; otherwise
 * undefined.
 */
export function findClaimedAttachment(
  reading: Reading,
  workspaceId: string,
  claim: RunnerClaim,
  attachmentId: string,
): string | undefined {
  if (findClaimedRun(reading, workspaceId, claim) === undefined) return undefined;
  const brief = runInputs.get(reading, workspaceId, claim.runId)?.claimed?.brief;
  return brief?.attachments?.find(({ id }) => id === attachmentId)?.digest;
}

/** Whether a stored run's input lists the commit as a starting commit or as a commit to merge. */
export function isCommitNeeded(
  reading: Reading,
  workspaceId: string,
  { repository, commit }: RepositoryCommit,
): boolean {
  return runBases.list(reading, workspaceId, [commit, repository], { limit: 1 }).length > 0;
}

/** Selects a page of a run's approvals. */
export interface ApprovalPage {
  /** Lists only approvals that are older than the approval with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Lists the approvals of a run, newest first. */
export function listApprovals(reading: Reading, { workspaceId, run }: VisibleRun, page: ApprovalPage): ApprovalRow[] {
  const { before, limit } = page;
  // The list below would omit an open approval whose row is lost. Listing the open approvals first throws `damaged`
  // then.
  if (before === undefined) listOpenApprovals(reading, workspaceId, run.id);
  const place = before === undefined ? undefined : [before];
  return approvals.all(reading, workspaceId, { runId: run.id }, { limit, before: place });
}
