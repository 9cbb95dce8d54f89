import type { Reading } from "../../storage/store.js";
import type { Refusal } from "../refusal.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import type { HookOccurrence, HookOccurrenceState } from "./hook-occurrence.js";
import { findHookOccurrence, hookOccurrences } from "./hook-occurrence.table.js";

/**
 * The metric that counts, across all workspaces, the hook occurrences that ran out of attempts. Only occurrences on
 * `after` events count.
 */
export const EXHAUSTED = "hook-occurrences.exhausted";

/** Filters of a list. A hook occurrence must match all given filters. */
export interface HookOccurrenceFilter {
  /** The hook's key. */
  readonly hook?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: HookOccurrenceState | undefined;
}

export interface HookOccurrencePage {
  /** Only hook occurrences before this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Lists the team's matching hook occurrences, newest first. The returned function reads one slice of the page. */
export function listHookOccurrences(
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { hook, event, state }: HookOccurrenceFilter,
  { before, limit }: HookOccurrencePage,
): (reading: Reading, cursor: Cursor<HookOccurrence> | null) => Slice<HookOccurrence> {
  const place = before === undefined ? undefined : [before];
  const filter = { teamId, hook, on: event, state };
  return (reading, cursor) => hookOccurrences.page(reading, workspaceId, filter, { before: place, limit, cursor });
}

/** A hook occurrence of a team. */
export interface TeamHookOccurrence {
  readonly workspaceId: string;
  readonly hookOccurrence: HookOccurrence;
}

/** Finds the team's hook occurrence with this id, or returns the refusal `not-found`. */
export function findTeamHookOccurrence(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  id: string,
): TeamHookOccurrence | Refusal {
  const hookOccurrence = findHookOccurrence(reading, workspaceId, teamId, id);
  return hookOccurrence === undefined ? { refused: "not-found" } : { workspaceId, hookOccurrence };
}

/** Returns the time before which the workspace's ended hook occurrences were removed; null if none was removed. */
export function hookOccurrencesPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: hookOccurrences.name, nowMs });
}
