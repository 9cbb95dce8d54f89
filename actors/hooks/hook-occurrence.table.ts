import type { Entry, Reading, Writing } from "../../storage/store.js";
import { type TablePage, table } from "../../storage/table.js";
import type { WorkEvent } from "../events/catalogue.js";
import { listResources } from "../resources/resource.table.js";
import type { HookFailureCode } from "./delivery/retry-policy.js";

/**
 * The rows of a firing. Most firings are delivered at their first attempt, and those are written twice only: once when
 * they begin, with their event, and once when they end, with their last attempt.
 */

export type HookOccurrenceState = "attempting" | "waiting" | "delivered" | "failed" | "refused";

/** Where a firing stands. */
interface HookOccurrenceStatus {
  readonly state: HookOccurrenceState;
  /** Why it failed, or null. */
  readonly code: HookFailureCode | null;
  /** Why the event was refused, or null. */
  readonly refused: string | null;
  readonly endedAt: string | null;
}

/** A firing from its beginning on; its key holds team and id. */
interface BegunRow extends HookOccurrenceStatus {
  readonly hookId: string;
  readonly hook: string;
  readonly work: WorkEvent;
  readonly firedAt: string;
  /** Why no request was made, or null. */
  readonly reason: string | null;
  /** When it is tried again, while it waits. */
  readonly retryAt: string | null;
  /** The firing that this one sends again, or null. */
  readonly resends: string | null;
  /** The last firing that sent this one again, or null. */
  readonly resentAs: string | null;
}

/** How a firing ended that made a request; it counts before what the other row says. */
interface EndedRow extends HookOccurrenceStatus {
  readonly attempt: AttemptRow;
}

/** One firing of a hook, as its history shows it; the attempts are read beside it. */
export interface HookOccurrence extends BegunRow {
  readonly id: string;
}

/** One request that a firing made, or could not make. */
export interface AttemptRow {
  readonly n: number;
  readonly step: string;
  readonly at: string;
  readonly tookMs: number;
  /** As sent; signatures, tokens and secrets left out. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Null when nothing responded. */
  readonly status: number | null;
  /** The first 16 KiB of the response's body. */
  readonly body: string;
  readonly code: HookFailureCode | null;
  readonly reason: string | null;
  /** How long the receiver asked to be left alone, at most an hour. */
  readonly retryAfterMs?: number | null;
}

/** `[team, firing]`; ids rise with time */
export const begunHookOccurrences = table<BegunRow>("hook-firing");
/** `[team, firing]` */
const endedHookOccurrences = table<EndedRow>("hook-firing-end");
/** `[firing, n]`: all but the last of a firing that has ended */
const attempts = table<AttemptRow>("hook-attempt");

export function findHookOccurrence(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  id: string,
): HookOccurrence | undefined {
  const begun = begunHookOccurrences.get(reading, workspaceId, teamId, id);
  return begun && toHookOccurrence(id, begun, endedHookOccurrences.get(reading, workspaceId, teamId, id));
}

/** The workspace's firing of that id, whatever its team; undefined when it has none. */
export function findHookOccurrenceById(reading: Reading, workspaceId: string, id: string): HookOccurrence | undefined {
  for (const team of listResources(reading, workspaceId, "team")) {
    const firing = findHookOccurrence(reading, workspaceId, team.id, id);
    if (firing !== undefined) return firing;
  }
  return undefined;
}

/** A page of the team's firings, in the order of their ids unless the page is read in reverse. */
export function listHookOccurrencesOfTeam(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  page: TablePage,
): HookOccurrence[] {
  const idOf = ({ key }: Entry) => String(key.at(-1));
  return begunHookOccurrences.entries(reading, workspaceId, [teamId], page).map((entry) => {
    const id = idOf(entry);
    return toHookOccurrence(id, entry.value, endedHookOccurrences.get(reading, workspaceId, teamId, id));
  });
}

/** The attempts of a firing so far, in order. */
export function listAttempts(reading: Reading, workspaceId: string, teamId: string, id: string): AttemptRow[] {
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const earlier = attempts.list(reading, workspaceId, [id]);
  return ended === undefined ? earlier : [...earlier, ended.attempt];
}

/** Writes a firing as it began, or as it is now while it has not ended. */
export function storeBegun(writing: Writing, workspaceId: string, firing: HookOccurrence): void {
  const { id, hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs } = firing;
  const begun = { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs };
  begunHookOccurrences.put(writing, workspaceId, [work.teamId, id], begun);
}

export function storeEnded(writing: Writing, workspaceId: string, of: HookOccurrenceKey, ended: EndedRow): void {
  endedHookOccurrences.put(writing, workspaceId, [of.teamId, of.id], ended);
}

/** Keeps an attempt after which the firing goes on. */
export function storeAttempt(writing: Writing, workspaceId: string, id: string, attempt: AttemptRow): void {
  attempts.put(writing, workspaceId, [id, attempt.n], attempt);
}

export interface HookOccurrenceKey {
  readonly teamId: string;
  readonly id: string;
}

function toHookOccurrence(id: string, begun: BegunRow, ended: EndedRow | undefined): HookOccurrence {
  if (ended === undefined) return { id, ...begun };
  const { state, code, refused, endedAt } = ended;
  return { id, ...begun, state, code, refused, endedAt };
}
