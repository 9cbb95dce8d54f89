/**
 * The loop guard (configuration API, Loop guard). A hook occurrence on an `after` event carries its chain of causes:
 * the events and hook occurrences in `WorkEvent.causes`, oldest first, and its own event. The guard stops the
 * occurrence when
 *
 * 1. the chain already has an occurrence of the same hook about the same task, so the hook would react to its own
 *    effect;
 * 2. the chain already has 8 causes;
 * 3. the hook fired 3 times for the same change within 10 minutes. This also ends loops without a named cause. The same
 *    change means the same hook, task, run and event fields, except `at`.
 *
 * Manual resends and tests are never stopped or counted.
 */

import { hash } from "node:crypto";
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../events/catalogue.js";
import { workEvents } from "../events/catalogue.js";
import { writeJson } from "../exact-json.js";
import { retain } from "../tables/retention.js";
import type { HookOccurrence } from "./hook-occurrence.js";
import type { FireHook } from "./hook-occurrence.messages.js";
import { findHookOccurrence, findHookOccurrenceById } from "./hook-occurrence.table.js";

/** Maximum number of causes in a chain. The guard stops the next hook occurrence. */
export const MAX_CAUSES = 8;
/** How often a hook may fire for the same change within {@link WINDOW_MS}. */
const MAX_TIMES_FIRED = 3;
const WINDOW_MS = 10 * 60 * 1_000;
/**
 * Length of a period, in milliseconds. Each row holds the times of one period, and a period's rows are removed
 * together. A period is longer than {@link WINDOW_MS}, so the times within the window are usually in one row.
 */
const PERIOD_MS = 60 * 60 * 1_000;
/**
 * On average, one hook occurrence in 32 removes old rows, up to 256 of them. 32 occurrences create at most 32 rows, so
 * old rows do not accumulate.
 */
const SWEEPS_ONE_IN = 32;
const SWEPT_AT_ONCE = 256;

/**
 * Key: `[period, task, change]`. Value: when the hook fired, in milliseconds since 1970, at most {@link
 * MAX_TIMES_FIRED} times. The key has the task before the change, so that rows of the same task are adjacent.
 */
const changesFired = table<readonly number[]>("hook-change-fired");

/**
 * Key: `[hook occurrence]`. Value: the latest hook occurrence whose requests have the key's occurrence as their cause.
 * The row is removed when the key's occurrence is removed.
 */
export const latestCaused = table<string>("hook-firing-caused");

/** Removes old counts. Hook occurrences also remove old counts, but only while hooks fire. */
export const changesFiredRetention = retain(changesFired, {
  period: "hooks",
  startedAtMs: (times) => times.at(-1) ?? 0,
  endedAtMs: (times) => times.at(-1) ?? 0,
  remove: (turn, _times, key) => {
    turn.remove(key);
    return true;
  },
});

/** A change that a hook may fire for: its key, and when the hook fired for it in the last 10 minutes, oldest first. */
export interface ChangeFired {
  readonly change: string;
  readonly times: readonly number[];
}

/** The loop guard's decision on a hook occurrence. */
interface LoopCheck {
  /** Why the occurrence is stopped, as text for users; null if it may continue. */
  readonly why: string | null;
  /** Null for an occurrence that is never stopped or counted. */
  readonly change: ChangeFired | null;
}

/** Decides whether a new hook occurrence is stopped. Only reads. */
export function checkLoop(turn: TurnReading, fire: FireHook): LoopCheck {
  const { hookId, work, resends } = fire;
  if (resends !== null || work.test === true || workEvents[work.on].timing !== "after") {
    return { why: null, change: null };
  }
  const change = toChangeKey(hookId, work);
  const fired: ChangeFired = { change, times: listTimesFired(turn, work.task.id, change) };
  return { why: whyLooped(turn, fire, fired), change: fired };
}

function whyLooped(turn: TurnReading, { hookId, work }: FireHook, { times }: ChangeFired): string | null {
  const { causes } = work;
  if (causes.length > 0 && causes.some((cause) => isOfHook(turn, work, hookId, cause))) {
    return "it would fire for an event that it caused itself";
  }
  if (causes.length >= MAX_CAUSES) return `the chain of what caused it is ${MAX_CAUSES} causes deep`;
  return times.length >= MAX_TIMES_FIRED
    ? `it fired ${MAX_TIMES_FIRED} times for the same change within 10 minutes`
    : null;
}

/** Counts a hook occurrence that continues. */
export function recordFired(turn: Turn, { work }: FireHook, { change, times }: ChangeFired): void {
  const period = toPeriod(turn.now);
  changesFired.put(turn, turn.self.partition, [period, work.task.id, change], [...times, turn.now]);
  if (turn.random() * SWEEPS_ONE_IN >= 1) return;
  // Keep the rows of the previous period, because their times may still be within the window.
  const old = changesFired.entries(turn, turn.self.partition, [], { before: [period - 1], limit: SWEPT_AT_ONCE });
  for (const { key } of old) turn.remove(key);
}

/**
 * Records this hook occurrence as the latest one with its cause. The occurrence's requests have the same cause in
 * `service-cause`. Does nothing if the event has no cause.
 */
export function recordNamedCause(turn: Turn, { causes }: WorkEvent): void {
  const cause = causes.at(-1);
  if (cause !== undefined) latestCaused.put(turn, turn.self.partition, cause, turn.self.id);
}

/**
 * Returns the chain of causes of an action whose caller names the hook occurrence `cause`. The chain consists of the
 * causes of that occurrence, the occurrence's event, and the occurrence. It is empty if the workspace has no such
 * occurrence.
 *
 * The caller names the `webhook-id` or the `service-cause` of a hook request:
 *
 * - A `webhook-id` is the id of the occurrence that sent the request.
 * - A `service-cause` is the id of the occurrence that caused the sender. The service replaces it with the latest
 *   occurrence that has this cause, if there is one.
 *
 * So the chain grows each time a receiver returns the `service-cause` that it received.
 */
export function chainFrom(reading: Reading, workspaceId: string, cause: string): readonly string[] {
  return toChain(findCause(reading, workspaceId, cause));
}

/**
 * Returns the longest of the causes' chains; empty if there is none. The hook occurrence of another team has no chain.
 */
export function chainWithin(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  causes: readonly (string | undefined)[],
): readonly string[] {
  let longest: readonly string[] = [];
  for (const cause of causes) {
    const found = cause === undefined ? undefined : findCause(reading, workspaceId, cause);
    const chain = found?.work.teamId === teamId ? toChain(found) : [];
    if (chain.length > longest.length) longest = chain;
  }
  return longest;
}

function toChain(found: HookOccurrence | undefined): readonly string[] {
  return found === undefined ? [] : [...found.work.causes, found.work.occurrence, found.id];
}

function findCause(reading: Reading, workspaceId: string, cause: string): HookOccurrence | undefined {
  const find = (id: string) => findHookOccurrenceById(reading, workspaceId, id);
  const made = /^msg_([^_]+)_[^_]+$/.exec(cause)?.[1];
  if (made !== undefined) return find(`occ_${made}`);
  const caused = latestCaused.get(reading, workspaceId, cause);
  return (caused === undefined ? undefined : find(caused)) ?? find(cause);
}

function isOfHook(turn: TurnReading, { teamId, task }: WorkEvent, hookId: string, cause: string): boolean {
  const hookOccurrence = findHookOccurrence(turn, turn.self.partition, teamId, cause);
  return (
    hookOccurrence?.hookId === hookId && hookOccurrence.work.test !== true && hookOccurrence.work.task.id === task.id
  );
}

/** Lists when the hook fired for this change in the last 10 minutes, oldest first, in milliseconds since 1970. */
function listTimesFired(turn: TurnReading, taskId: string, change: string): readonly number[] {
  const since = turn.now - WINDOW_MS;
  const [period, before] = [toPeriod(turn.now), toPeriod(since)];
  const row = (which: number) => changesFired.get(turn, turn.self.partition, which, taskId, change);
  // The current period's row also has the earlier times within the window. So the previous period's row need not be
  // read.
  const times = row(period) ?? (before === period ? undefined : row(before)) ?? [];
  return times.filter((at) => at > since);
}

function toPeriod(ms: number): number {
  return Math.floor(ms / PERIOD_MS);
}

function toChangeKey(hookId: string, { task, run, event }: WorkEvent): string {
  const change = writeJson([hookId, task.id, run?.id ?? null, { ...event, at: "" }]);
  return hash("sha256", change, "base64url").slice(0, 22);
}
