import { expected } from "../../storage/expected.js";
import type { Reading } from "../../storage/store.js";
import { listTeamsOfOutcomes } from "../access/members/team.queries.js";
import { listWorkspacesOf } from "../access/members/workspace.queries.js";
import { seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { findInSteps, type InSteps } from "../in-steps.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { approvals, approvalWaits, findApproval } from "../runs/approval.table.js";
import { runs } from "../runs/run.table.js";
import {
  ANYBODY,
  addWaitCounts,
  comparePositions,
  listWaitingTeams,
  listWaits,
  NOBODY,
  READS_AT_ONCE,
  type TeamWaits,
  type WaitPosition,
} from "../runs/wait-index.js";
import { WORKSPACES_AT_ONCE } from "../workspaces/member.table.js";
import type { InboxItem } from "./inbox.js";
import { findTaskOfOutcomes } from "./task.queries.js";
import { tasks, taskWaits } from "./task.table.js";

/** An item's position, and the index that lists the item. */
export interface FoundWait extends TeamWaits, WaitPosition {
  /** The part of the index that lists the item. */
  readonly whom: string;
}

/** `me`: items that wait for the caller. `none`: items that wait for no person in particular. `all`: all items. */
export type Whose = "me" | "none" | "all";

/** The largest number that {@link countWaits} returns. */
export const MAX_COUNTED = 1_000;

/**
 * Lists the teams that have items and whose outcomes the caller may read, with the teams' indexes. Lists the teams of
 * one workspace or of all. The items of other teams are not in the caller's inbox, because only team members act on
 * them.
 */
export function* listTeamWaits(
  reading: Reading,
  caller: Caller,
  workspaceId: string | null,
): InSteps<readonly TeamWaits[]> {
  const workspaceIds = workspaceId === null ? yield* listWorkspacesOf(reading, caller) : [workspaceId];
  const found: TeamWaits[] = [];
  for (const [n, id] of workspaceIds.entries()) {
    if (n > 0) yield;
    const teamIds = [...(yield* listTeamsOfOutcomes(reading, caller, id))].sort();
    for (const index of [approvalWaits, taskWaits]) {
      for (const teamId of yield* listWaitingTeams(index, reading, id, teamIds)) {
        found.push({ index, workspaceId: id, teamId });
      }
    }
  }
  return found;
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

/**
 * Counts in steps the items that wait for the caller, those that wait for nobody in particular, and all items. Stops
 * each count at {@link MAX_COUNTED}.
 */
export function* countWaits(
  reading: Reading,
  caller: Caller,
  teams: readonly TeamWaits[],
): InSteps<Readonly<Record<Whose, number>>> {
  const kinds = (["me", "none", "all"] as const).map((whose) => [whose, toWhom(caller, whose)] as const);
  const counts = new Map(kinds.flatMap(([, whom]) => (whom === null ? [] : [[whom, 0] as const])));
  for (const [n, of] of teams.entries()) {
    if ([...counts.values()].every((count) => count >= MAX_COUNTED)) break;
    if (n > 0 && n % READS_AT_ONCE === 0) yield;
    yield* addWaitCounts(reading, of, counts, MAX_COUNTED);
  }
  const [me, none, all] = kinds.map(([, whom]) => counts.get(whom ?? "") ?? 0);
  return { me: me ?? 0, none: none ?? 0, all: all ?? 0 };
}

/** Selects a page of items. */
export interface InboxPage {
  readonly whose: Whose;
  readonly after: WaitPosition | null;
  readonly limit: number;
}

/**
 * Lists a page of items of all teams, the longest wait first, in steps. Merges the teams' indexes. Reads from each
 * index only the entries that can be on the page.
 */
export function* listInbox(
  reading: Reading,
  caller: Caller,
  teams: readonly TeamWaits[],
  { whose, after, limit }: InboxPage,
): InSteps<readonly FoundWait[]> {
  const whom = toWhom(caller, whose);
  if (whom === null) return [];
  // The first read of each index is small, because most indexes have few entries on the page.
  const atOnce = Math.max(4, Math.ceil(limit / Math.max(1, teams.length)));
  const read = (of: TeamWaits, from: WaitPosition | null): FoundWait[] =>
    listWaits(reading, of, { whom, after: from, limit: atOnce }).map((wait) => ({ ...of, ...wait, whom }));
  const lines: FoundWait[][] = [];
  for (const [n, of] of teams.entries()) {
    if (n > 0 && n % READS_AT_ONCE === 0) yield;
    insertLine(lines, read(of, after), limit);
  }
  const found: FoundWait[] = [];
  while (found.length < limit) {
    const line = lines.shift() ?? [];
    const next = line.shift();
    if (next === undefined) break;
    found.push(next);
    insertLine(lines, line.length > 0 ? line : read(next, next), limit);
    if (found.length % READS_AT_ONCE === 0) yield;
  }
  return found;
}

/**
 * Inserts a list of items, ordered by the first item of each list. Keeps only the first `limit` lists: the page cannot
 * reach an item of a later list.
 */
function insertLine(lines: FoundWait[][], line: FoundWait[], limit: number): void {
  const [first] = line;
  if (first === undefined) return;
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = lines[middle]?.[0];
    if (other !== undefined && comparePositions(other, first) < 0) low = middle + 1;
    else high = middle;
  }
  lines.splice(low, 0, line);
  if (lines.length > limit) lines.pop();
}

/** Reads the rows of an item. Throws `damaged` if one is missing. */
export function getInboxItem(reading: Reading, found: FoundWait): InboxItem {
  const { index, workspaceId, teamId, whom, sinceMs, id } = found;
  const place = [teamId, whom, sinceMs, id];
  const runId = expected(index.get(reading, workspaceId, ...place), index.key(workspaceId, ...place));
  if (runId === "") return { workspaceId, task: getTask(reading, workspaceId, id), approval: null };
  const approval = expected(approvals.get(reading, workspaceId, runId, id), approvals.key(workspaceId, runId, id));
  const run = expected(runs.get(reading, workspaceId, runId), runs.key(workspaceId, runId));
  return { workspaceId, task: getTask(reading, workspaceId, run.taskId ?? ""), approval };
}

function getTask(reading: Reading, workspaceId: string, taskId: string) {
  return expected(tasks.get(reading, workspaceId, taskId), tasks.key(workspaceId, taskId));
}

/**
 * Finds an item by its id in steps, even if the item no longer waits. Refuses with `not-found` unless the caller may
 * read the outcomes of the item's team. A task is an item only if it has waited with a question or a failure.
 */
export function* findInboxItem(reading: Reading, caller: Caller, id: string): InSteps<InboxItem | Refusal> {
  if (id.startsWith("apr_")) return (yield* findApprovalItem(reading, caller, id)) ?? { refused: "not-found" };
  const found = findTaskOfOutcomes(reading, caller, id);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  const hasWaited = task.waits !== undefined || task.lastWait !== undefined;
  return hasWaited ? { workspaceId, task, approval: null } : { refused: "not-found" };
}

function* findApprovalItem(reading: Reading, caller: Caller, id: string): InSteps<InboxItem | undefined> {
  const workspaceIds = yield* listWorkspacesOf(reading, caller);
  return yield* findInSteps(workspaceIds, WORKSPACES_AT_ONCE, (workspaceId) => {
    const approval = findApproval(reading, workspaceId, id);
    if (approval === undefined || !seesOutcomes(reading, caller, workspaceId, approval.teamId)) return undefined;
    const taskId = runs.get(reading, workspaceId, approval.runId)?.taskId ?? "";
    const task = tasks.get(reading, workspaceId, taskId);
    return task === undefined ? undefined : { workspaceId, task, approval };
  });
}
