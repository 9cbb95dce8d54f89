import { entryOf, topic } from "../../runtime/topic.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../events/catalogue.js";
import { listResources } from "../resources/resource.table.js";
import type { TellingWriting } from "../tables/follow.js";
import { listedTable } from "../tables/indexed-table.js";
import { storedAs } from "../tables/table-declaration.js";
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

/** What lists find a firing by, and streams are told of it. */
export interface HookOccurrenceListed {
  readonly id: string;
  readonly teamId: string;
  /** The hook's key. */
  readonly hook: string;
  /** The event. */
  readonly on: string;
  readonly state: HookOccurrenceState;
}

/** What readers of a firing are told of it. */
const hookOccurrenceTopic = topic<{ readonly type: "state"; readonly state: HookOccurrenceState }>("hook-occurrence");
/** What readers of a team are told of its hooks. */
const teamTopic = topic<{ readonly type: "hook" } & Omit<HookOccurrenceListed, "teamId">>("team");

/** `[team, firing]` */
const endedHookOccurrences = table<EndedRow>("hook-firing-end");
/** `[team, firing]` -> true: those that failed. */
export const failedHookOccurrences = table<true>("hook-firing-failed");

/**
 * `[team, firing]`; ids rise with time. Of those that went the common way (attempting, delivered) no row of their state
 * is kept. Nobody can follow a firing before it is there, so there is nothing to tell of a new one that goes on.
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
    const own = before === null ? [] : [entryOf(hookOccurrenceTopic(id), { type: "state", state })];
    const isOver = state !== "attempting" && state !== "waiting";
    return isOver ? [...own, entryOf(teamTopic(teamId), { type: "hook", id, hook, on, state })] : own;
  },
});
/** `[firing, n]`: all but the last of a firing that has ended */
const attempts = table<AttemptRow>("hook-attempt");

export function findHookOccurrence(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  id: string,
): HookOccurrence | undefined {
  return hookOccurrences.get(reading, workspaceId, teamId, id);
}

/** The workspace's firing of that id, whatever its team; undefined when it has none. */
export function findHookOccurrenceById(reading: Reading, workspaceId: string, id: string): HookOccurrence | undefined {
  for (const team of listResources(reading, workspaceId, "team")) {
    const firing = findHookOccurrence(reading, workspaceId, team.id, id);
    if (firing !== undefined) return firing;
  }
  return undefined;
}

/** The attempts of a firing so far, in order. */
export function listAttempts(reading: Reading, workspaceId: string, teamId: string, id: string): AttemptRow[] {
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const earlier = attempts.list(reading, workspaceId, [id]);
  return ended === undefined ? earlier : [...earlier, ended.attempt];
}

/** Writes how a firing ended; `before` is what lists found it by. */
export function storeEnded(
  writing: TellingWriting,
  workspaceId: string,
  before: HookOccurrenceListed,
  ended: EndedRow,
): void {
  endedHookOccurrences.put(writing, workspaceId, [before.teamId, before.id], ended);
  hookOccurrences.relist(writing, workspaceId, before, { ...before, state: ended.state });
}

/** Keeps an attempt after which the firing goes on. */
export function storeAttempt(writing: Writing, workspaceId: string, id: string, attempt: AttemptRow): void {
  attempts.put(writing, workspaceId, [id, attempt.n], attempt);
}

function toBegun(firing: HookOccurrence): BegunRow {
  const { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs } = firing;
  return { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs };
}

function toHookOccurrence(begun: BegunRow, key: Key, reading: Reading): HookOccurrence {
  const [workspaceId, teamId, id] = [key[0], key.at(-2), key.at(-1)].map(String);
  const ended = endedHookOccurrences.get(reading, workspaceId ?? "", teamId ?? "", id ?? "");
  if (ended === undefined) return { id: id ?? "", ...begun };
  const { state, code, refused, endedAt } = ended;
  return { id: id ?? "", ...begun, state, code, refused, endedAt };
}
