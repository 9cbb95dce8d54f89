import type { Turn } from "../../runtime/turns/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { findResource, type ResourceRow } from "../resources/resource.table.js";
import { timeText } from "../time-text.js";
import { type HookCounts, type HookHealth, noCounts, sumEnded, withEnded, withWaiting } from "./hook-health.js";
import type { HookOccurrenceState } from "./hook-occurrence.js";
import { hookRetries } from "./hook-occurrence.table.js";

/** Key: `[hook]`. Absent until a firing of the hook ends or waits. */
export const hookHealth = table<HookCounts>("hook-health");

/** Counts a firing of the hook that ends in this turn with `state`. */
export function countEnded(turn: Turn, hookId: string, state: HookOccurrenceState): void {
  if (state === "attempting" || state === "waiting") throw new Error(`a firing does not end as ${state}`);
  change(turn, hookId, (counts) => withEnded(counts, state, turn.now));
}

/** Counts a firing of the hook that starts to wait for a retry (`1`), or stops waiting (`-1`). */
export function countWaiting(turn: Turn, hookId: string, by: 1 | -1): void {
  change(turn, hookId, (counts) => withWaiting(counts, by));
}

/**
 * Changes the counts of a hook. Does nothing for a deleted hook, or if the counts are damaged: damage must not stop a
 * firing.
 */
function change(turn: Turn, hookId: string, to: (counts: HookCounts) => HookCounts): void {
  const { partition } = turn.self;
  let isDamaged = false;
  const reading = readPastDamage(turn, () => {
    isDamaged = true;
  });
  const counts = hookHealth.get(reading, partition, hookId) ?? noCounts;
  if (isDamaged || findResource(reading, partition, "hook", hookId) === undefined) return;
  hookHealth.put(turn, partition, hookId, to(counts));
}

/** Returns a hook's health at a time; null if its counts are damaged. */
export function readHookHealth(
  reading: Reading,
  { workspaceId, id }: Pick<ResourceRow, "workspaceId" | "id">,
  nowMs: number,
): HookHealth | null {
  let isDamaged = false;
  const intact = readPastDamage(reading, () => {
    isDamaged = true;
  });
  const counts = hookHealth.get(intact, workspaceId, id) ?? noCounts;
  const [next] = hookRetries.entries(intact, workspaceId, [id], { limit: 1 });
  if (isDamaged) return null;
  const nextRetryAt = next === undefined ? null : timeText(Number(next.key.at(-2)));
  return { ...sumEnded(counts, nowMs), waiting: counts.waiting, nextRetryAt };
}

/** Removes the counts of a hook that is deleted. */
export function removeHookHealth(writing: Writing, { workspaceId, id }: Pick<ResourceRow, "workspaceId" | "id">): void {
  hookHealth.remove(writing, workspaceId, id);
}
