import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../events/catalogue.js";
import { listResources } from "../resources/resource.table.js";
import { listedTable } from "../tables/indexed-table.js";
import type { PublishingWriting } from "../tables/on-write.js";
import { storedAs } from "../tables/table-declaration.js";
import type { HookFailureCode } from "./delivery/failure-codes.js";

/**
 * The rows of a hook occurrence. Most are delivered at the first attempt; these are written only twice: at the
 * beginning, with their event, and at the end, with their last attempt.
 */

export type HookOccurrenceState = "attempting" | "waiting" | "delivered" | "failed" | "refused";

/** The status of a hook occurrence. */
interface HookOccurrenceStatus {
  readonly state: HookOccurrenceState;
  /** Why it failed, or null. */
  readonly code: HookFailureCode | null;
  /** Why it failed, for people, or null. Absent where an earlier release wrote how it ended. */
  readonly reason?: string | null;
  /** Why the event was refused, or null. */
  readonly refused: string | null;
  readonly endedAt: string | null;
}

/** A hook occurrence from its beginning on; its key holds team and id. */
interface BegunRow extends HookOccurrenceStatus {
  readonly hookId: string;
  readonly hook: string;
  readonly work: WorkEvent;
  readonly firedAt: string;
  readonly reason: string | null;
  /** When it is tried again, while it waits. */
  readonly retryAt: string | null;
  /** The hook occurrence that this one sends again, or null. */
  readonly resends: string | null;
  /** The last hook occurrence that sent this one again, or null. */
  readonly resentAs: string | null;
}

/** How a hook occurrence that made a request ended; it takes precedence over the other row. */
interface EndedRow extends HookOccurrenceStatus {
  readonly attempt: AttemptRow;
}

/** A hook occurrence as its history shows it; the attempts are read separately. */
export interface HookOccurrence extends BegunRow {
  readonly id: string;
}

/** One request that a hook occurrence made, or could not make. */
export interface AttemptRow {
  readonly n: number;
  readonly step: string;
  readonly at: string;
  readonly tookMs: number;
  /** As sent, without signatures, tokens and secrets. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Null when nothing responded. */
  readonly status: number | null;
  /** The first 16 KiB of the response's body. */
  readonly body: string;
  readonly code: HookFailureCode | null;
  readonly reason: string | null;
  /** The wait that the receiver asked for, at most an hour. */
  readonly retryAfterMs?: number | null;
}

/** What lists find a hook occurrence by, and what its streams publish. */
export interface HookOccurrenceListed {
  readonly id: string;
  readonly teamId: string;
  /** The hook's key. */
  readonly hook: string;
  /** The event. */
  readonly on: string;
  readonly state: HookOccurrenceState;
}

/** What readers of a hook occurrence receive. */
const hookOccurrenceTopic = topic<{ readonly type: "state"; readonly state: HookOccurrenceState }>("hook-occurrence");
/** What readers of a team receive about its hooks. */
const teamTopic = topic<{ readonly type: "hook" } & Omit<HookOccurrenceListed, "teamId">>("team");

/** `[team, firing]` */
export const endedHookOccurrences = table<EndedRow>("hook-firing-end");
/** `[team, firing]` -> true: those that failed. */
export const failedHookOccurrences = table<true>("hook-firing-failed");

/**
 * `[team, firing]`; ids rise with time. The most common states (attempting, delivered) are not in the index by state.
 * Nobody can follow a hook occurrence before it exists, so a new one that continues publishes nothing.
 */
export const hookOccurrences = listedTable<HookOccurrence, HookOccurrenceListed>("hook-firing", {
  under: ["teamId"],
  order: ["id"],
  listed: ({ id, hook, state, work }) => ({ id, teamId: work.teamId, hook, on: work.on, state }),
  indexes: {
    "hook-firing-by": ["teamId", "hook", "on"],
    "hook-firing-in": { by: ["teamId", "hook", "on", "state"], only: { state: ["waiting", "failed", "refused"] } },
    [failedHookOccurrences.name]: { by: ["teamId"], only: { state: ["failed"] } },
  },
  stored: storedAs(toBegun, toHookOccurrence),
  changes: ({ id, teamId, hook, on, state }, _reading, { before }) => {
    if (before?.state === state) return [];
    const own = before === null ? [] : [toChangeEntry(hookOccurrenceTopic(id), { type: "state", state })];
    const isOver = state !== "attempting" && state !== "waiting";
    return isOver ? [...own, toChangeEntry(teamTopic(teamId), { type: "hook", id, hook, on, state })] : own;
  },
});
/** `[firing, n]`: all but the last of a hook occurrence that has ended */
export const attempts = table<AttemptRow>("hook-attempt");

export function findHookOccurrence(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  id: string,
): HookOccurrence | undefined {
  return hookOccurrences.get(reading, workspaceId, teamId, id);
}

/** The workspace's hook occurrence of that id, in any team; undefined when it has none. */
export function findHookOccurrenceById(reading: Reading, workspaceId: string, id: string): HookOccurrence | undefined {
  for (const team of listResources(reading, workspaceId, "team")) {
    const hookOccurrence = findHookOccurrence(reading, workspaceId, team.id, id);
    if (hookOccurrence !== undefined) return hookOccurrence;
  }
  return undefined;
}

/** The attempts of a hook occurrence so far, in order. */
export function listAttempts(reading: Reading, workspaceId: string, teamId: string, id: string): AttemptRow[] {
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const earlier = attempts.list(reading, workspaceId, [id]);
  return ended === undefined ? earlier : [...earlier, ended.attempt];
}

/** Writes how a hook occurrence ended; `before` is what lists found it by. */
export function storeEnded(
  writing: PublishingWriting,
  workspaceId: string,
  before: HookOccurrenceListed,
  ended: EndedRow,
): void {
  endedHookOccurrences.put(writing, workspaceId, [before.teamId, before.id], ended);
  hookOccurrences.relist(writing, workspaceId, before, { ...before, state: ended.state });
}

/** Records an attempt after which the hook occurrence continues. */
export function storeAttempt(writing: Writing, workspaceId: string, id: string, attempt: AttemptRow): void {
  attempts.put(writing, workspaceId, [id, attempt.n], attempt);
}

function toBegun(hookOccurrence: HookOccurrence): BegunRow {
  const { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs } =
    hookOccurrence;
  return { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs };
}

function toHookOccurrence(begun: BegunRow, key: Key, reading: Reading): HookOccurrence {
  const [workspaceId, teamId, id] = [String(key[0]), String(key.at(-2)), String(key.at(-1))];
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const { state, code, reason = null, refused, endedAt } = ended ?? begun;
  const { hookId, hook, work, firedAt, retryAt, resends, resentAs } = begun;
  // Member by member: an object that others are spread into takes several times the memory.
  return {
    id,
    hookId,
    hook,
    work,
    firedAt,
    state,
    code,
    reason,
    refused,
    endedAt,
    retryAt,
    resends,
    resentAs,
  };
}
