import { expected } from "../../storage/expected.js";
import type { Reading } from "../../storage/store.js";
import { listTeamsOfOutcomes } from "../access/members/team.queries.js";
import { listWorkspacesOf } from "../access/members/workspace.queries.js";
import { seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { approvals, approvalWaits, findApproval } from "../runs/approval.table.js";
import { runs } from "../runs/run.table.js";
import { ANYBODY, listWaits, NOBODY, type WaitIndex, type WaitPosition } from "../runs/wait-index.js";
import type { InboxItem } from "./inbox.js";
import { findTaskOfOutcomes } from "./task.queries.js";
import { tasks, taskWaits } from "./task.table.js";

/** The items of one team in one index. */
interface TeamWaits {
  readonly index: WaitIndex;
  readonly workspaceId: string;
  readonly teamId: string;
}

/** An item's position, and where its row is. */
export interface FoundWait extends TeamWaits, WaitPosition {
  /** The run of an approval; "" for a task. */
  readonly runId: string;
}

/** Whose items to list: those of one person, those of nobody, or all. */
export type Whose = "me" | "none" | "all";

/** The largest number that {@link countWaits} returns. */
export const MAX_COUNTED = 1_000;

/**
 * Lists the teams whose outcomes the caller reads, in one workspace or in all of them, with their indexes. Items of
 * other teams are not in the caller's inbox, because nobody outside a team acts on its work.
 */
export function listTeamWaits(reading: Reading, caller: Caller, workspaceId: string | null): readonly TeamWaits[] {
  const workspaceIds = workspaceId === null ? listWorkspacesOf(reading, caller) : [workspaceId];
  return workspaceIds.flatMap((id) =>
    listTeamsOfOutcomes(reading, caller, id).flatMap((teamId) =>
      [approvalWaits, taskWaits].map((index) => ({ index, workspaceId: id, teamId })),
    ),
  );
}

/**
 * Returns the part of an index that `whose` selects; null for `me` if the caller is a token, because no item waits for
 * a token.
 */
function toWhom(caller: Caller, whose: Whose): string | null {
  if (whose === "all") return ANYBODY;
  if (whose === "none") return NOBODY;
  return caller.kind === "person" ? caller.userId : null;
}

/** Counts items, to at most {@link MAX_COUNTED}. */
export function countWaits(reading: Reading, caller: Caller, teams: readonly TeamWaits[], whose: Whose): number {
  const whom = toWhom(caller, whose);
  let count = 0;
  for (const { index, workspaceId, teamId } of whom === null ? [] : teams) {
    if (count >= MAX_COUNTED) break;
    const limit = MAX_COUNTED - count;
    count += listWaits(index, reading, workspaceId, { teamId, whom: whom ?? "", after: null, limit }).length;
  }
  return count;
}

/** Selects a page of items. */
export interface InboxPage {
  readonly whose: Whose;
  readonly after: WaitPosition | null;
  readonly limit: number;
}

/**
 * Lists a page of items of all teams, the longest wait first. Merges the teams' indexes, and reads of each index only
 * what may be on the page.
 */
export function listInbox(
  reading: Reading,
  caller: Caller,
  teams: readonly TeamWaits[],
  { whose, after, limit }: InboxPage,
): readonly FoundWait[] {
  const whom = toWhom(caller, whose);
  if (whom === null) return [];
  // The first read of each index is small, because most teams have few of the longest waits.
  const atOnce = Math.max(4, Math.ceil(limit / Math.max(1, teams.length)));
  const read = (of: TeamWaits, from: WaitPosition | null): FoundWait[] =>
    listWaits(of.index, reading, of.workspaceId, { teamId: of.teamId, whom, after: from, limit: atOnce }).map(
      (wait) => ({
        ...of,
        ...wait,
      }),
    );
  const lines = teams.map((of) => read(of, after)).filter((line) => line.length > 0);
  const found: FoundWait[] = [];
  while (found.length < limit && lines.length > 0) {
    lines.sort((left, right) => comparePositions(left[0], right[0]));
    const [line = []] = lines;
    const next = line.shift();
    if (next === undefined) break;
    found.push(next);
    if (line.length > 0) continue;
    const more = read(next, next);
    if (more.length > 0) lines[0] = more;
    else lines.shift();
  }
  return found;
}

function comparePositions(left: WaitPosition | undefined, right: WaitPosition | undefined): number {
  if (left === undefined || right === undefined) return 0;
  return left.sinceMs - right.sinceMs || (left.id < right.id ? -1 : 1);
}

/** Reads the rows of an item. Throws `damaged` if one is missing. */
export function getInboxItem(reading: Reading, { workspaceId, id, runId }: FoundWait): InboxItem {
  if (runId === "") return { workspaceId, task: getTask(reading, workspaceId, id), approval: null };
  const approval = expected(approvals.get(reading, workspaceId, runId, id), approvals.key(workspaceId, runId, id));
  const run = expected(runs.get(reading, workspaceId, runId), runs.key(workspaceId, runId));
  return { workspaceId, task: getTask(reading, workspaceId, run.taskId ?? ""), approval };
}

function getTask(reading: Reading, workspaceId: string, taskId: string) {
  return expected(tasks.get(reading, workspaceId, taskId), tasks.key(workspaceId, taskId));
}

/**
 * Finds an item by its id, also after its wait. Refuses with `not-found` unless the caller reads the outcomes of its
 * team. A task that never waited for a person, except for approvals, is no item.
 */
export function findInboxItem(reading: Reading, caller: Caller, id: string): InboxItem | Refusal {
  if (id.startsWith("apr_")) return findApprovalItem(reading, caller, id);
  const found = findTaskOfOutcomes(reading, caller, id);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  const hasWaited = task.waits !== undefined || task.lastWait !== undefined;
  return hasWaited ? { workspaceId, task, approval: null } : { refused: "not-found" };
}

function findApprovalItem(reading: Reading, caller: Caller, id: string): InboxItem | Refusal {
  for (const workspaceId of listWorkspacesOf(reading, caller)) {
    const approval = findApproval(reading, workspaceId, id);
    if (approval === undefined) continue;
    if (!seesOutcomes(reading, caller, workspaceId, approval.teamId)) break;
    const taskId = runs.get(reading, workspaceId, approval.runId)?.taskId ?? "";
    const task = tasks.get(reading, workspaceId, taskId);
    return task === undefined ? { refused: "not-found" } : { workspaceId, task, approval };
  }
  return { refused: "not-found" };
}
