import type { Reading } from "../../storage/store.js";
import type { Cursor, Slice } from "../tables/page.js";
import { type HookOccurrence, type HookOccurrenceState, hookOccurrences } from "./hook-occurrence.table.js";

/** The figure that counts firings on after events whose attempts were used up, over all workspaces. */
export const EXHAUSTED = "hook-occurrences.exhausted";

/** What a list may be narrowed by; a firing has to fit all that is given. */
export interface HookOccurrenceFilter {
  /** The hook's key. */
  readonly hook?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: HookOccurrenceState | undefined;
}

export interface HookOccurrencePage {
  /** Only firings before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Where the slice before it stopped. */
  readonly cursor: Cursor<HookOccurrence> | null;
}

/** A slice of the team's firings that fit, newest first. */
export function listHookOccurrences(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { hook, event, state }: HookOccurrenceFilter,
  { before, limit, cursor }: HookOccurrencePage,
): Slice<HookOccurrence> {
  const place = before === undefined ? undefined : [before];
  const filter = { teamId, hook, on: event, state };
  return hookOccurrences.page(reading, workspaceId, filter, { before: place, limit, cursor });
}
