import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../events/catalogue.js";
import { ownedBy, releaseRows } from "../tables/owned-rows.js";
import { retain } from "../tables/retention.js";
import { isOpen } from "../tasks/task.js";
import { retainForRequests } from "../tasks/task.retention.js";
import { tasks } from "../tasks/task.table.js";
import type { HookOccurrence } from "./hook-occurrence.js";
import { attempts, endedHookOccurrences, hookOccurrences } from "./hook-occurrence.table.js";
import { latestCaused } from "./loop-guard.js";

/** Key: `[team]`. Value: the latest event time among the removed hook occurrences, in milliseconds since 1970. */
export const latestPruned = table<number>("hook-firing-pruned");

/**
 * Removes ended hook occurrences. Hook occurrences about an open task stay, because they may cause the task's next
 * action.
 */
export const hookOccurrenceRetention = retain(hookOccurrences, {
  period: "hooks",
  cost: 2,
  lineParts: 1,
  startedAtMs: ({ firedAt }) => Date.parse(firedAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  isRetained: (turn, { work }) => {
    const task = tasks.get(turn, turn.self.partition, work.task.id);
    return task !== undefined && isOpen(task);
  },
  cutMarks: (turn) => {
    for (const { key, value } of latestPruned.entries(turn, turn.self.partition)) {
      const teamId = String(key.at(-1));
      if (value > turn.now) latestPruned.put(turn, turn.self.partition, teamId, turn.now);
    }
  },
  remove: (turn, hookOccurrence) => {
    remove(turn, hookOccurrence);
    return true;
  },
});

/** The attempts of a hook occurrence. They are removed after the occurrence. */
export const attemptsOwned = ownedBy(hookOccurrences.name, attempts);

function remove(turn: Turn, hookOccurrence: HookOccurrence): void {
  const { partition } = turn.self;
  const { id, work } = hookOccurrence;
  const { teamId } = work;
  hookOccurrences.remove(turn, partition, hookOccurrence);
  endedHookOccurrences.remove(turn, partition, teamId, id);
  latestCaused.remove(turn, partition, id);
  if (attempts.entries(turn, partition, [id], { limit: 1 }).length > 0) releaseRows(turn, hookOccurrences.name, id);
  const eventMs = Math.min(Date.parse(work.event.at), turn.now);
  if (eventMs > latestPrunedMs(turn, partition, teamId)) latestPruned.put(turn, partition, teamId, eventMs);
}

/** Returns whether hook occurrences on this event may have been removed. If so, it is unknown whether a hook fired. */
export function mayBePruned(reading: Reading, { workspaceId, teamId, event }: WorkEvent): boolean {
  return Date.parse(event.at) <= latestPrunedMs(reading, workspaceId, teamId);
}

function latestPrunedMs(reading: Reading, workspaceId: string, teamId: string): number {
  return latestPruned.get(reading, workspaceId, teamId) ?? Number.NEGATIVE_INFINITY;
}

/**
 * Half of the shortest retention period, in milliseconds. A callback token created within this time after its event
 * expires before the task can be removed.
 */
const FRESH_MS = 30 * 60 * 1_000;

/**
 * Retains an ended task while the receiver of a hook request may call back. Only older events need this ({@link
 * FRESH_MS}).
 */
export function retainTaskForReceiver(turn: Turn, { event, task: { id } }: WorkEvent): void {
  if (turn.now - Date.parse(event.at) < FRESH_MS) return;
  const task = tasks.get(turn, turn.self.partition, id);
  if (task !== undefined && !isOpen(task)) retainForRequests(turn, id);
}
