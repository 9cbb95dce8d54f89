import type { Reading } from "../../storage/store.js";
import type { Refusal } from "../refusal.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import {
  findHookOccurrence,
  type HookOccurrence,
  type HookOccurrenceState,
  hookOccurrences,
} from "./hook-occurrence.table.js";

/** The metric that counts exhausted hook occurrences on after events, over all workspaces. */
export const EXHAUSTED = "hook-occurrences.exhausted";

/** Filters of a list; a hook occurrence has to match all that are given. */
export interface HookOccurrenceFilter {
  /** The hook's key. */
  readonly hook?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: HookOccurrenceState | undefined;
}

export interface HookOccurrencePage {
  /** Only hook occurrences before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of the team's hook occurrences that match, newest first: a function that reads a slice of it. */
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

/** The team's hook occurrence of this id; refused `not-found` where it has none. */
export function findTeamHookOccurrence(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  id: string,
): TeamHookOccurrence | Refusal {
  const hookOccurrence = findHookOccurrence(reading, workspaceId, teamId, id);
  return hookOccurrence === undefined ? { refused: "not-found" } : { workspaceId, hookOccurrence };
}

/** Hook occurrences that ended before this time are not stored any more; null when none was removed. */
export function hookOccurrencesPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: hookOccurrences.name, nowMs });
}
