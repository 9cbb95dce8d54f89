import type { WorkEvent } from "../tasks/work-event.js";
import { pathPattern } from "./glob.js";
import type { HookFields } from "./hook.kind.js";
import { conditionHolds, type EventValues } from "./hook-values.js";

/** One of the conditions that all have to hold for a hook to fire. */
export type MatchCondition = "lines" | "stations" | "repositories" | "tools" | "paths" | "when";

/** The first condition of a hook that does not hold for an event, and what it saw there. */
export interface Mismatch {
  readonly condition: MatchCondition;
  readonly wanted: readonly string[] | string;
  readonly saw: unknown;
}

/** The lists that hooks are found by, the one that leaves fewest first. */
const foundBy = ["lines", "stations", "repositories", "tools"] as const;

/** The words that a hook is listed under: those of one of its lists, or its event alone when it has none. */
export function wordsOf({ on, match }: Pick<HookFields, "on" | "match">): string[] {
  const list = foundBy.find((name) => match[name].length > 0);
  return list === undefined ? [on] : match[list].map((value) => listed(on, list, value));
}

function listed(on: string, list: (typeof foundBy)[number], value: string): string {
  return `${on} ${list} ${value}`;
}

/** The words that every hook which could match an event is listed under: no other has to be looked at. */
export function wordsFor(work: WorkEvent): string[] {
  const { on, task, event } = work;
  const words: string[] = [on, listed(on, "lines", task.line), listed(on, "stations", task.stationKey)];
  for (const repository of repositoriesOf(work)) words.push(listed(on, "repositories", repository));
  if (typeof event.tool === "string") words.push(listed(on, "tools", event.tool));
  return words;
}

type Matched = Pick<HookFields, "key" | "match" | "vars" | "when">;

/**
 * Why a hook does not fire on an event of its own, or null when it does: every match list that is not empty has to
 * name something of the event, and `when` to hold (configuration API, Hook).
 */
export function whyNotMatched(hook: Matched, work: WorkEvent, values: () => EventValues): Mismatch | null {
  const { match, when } = hook;
  return (
    without("lines", match.lines, () => [work.task.line]) ??
    without("stations", match.stations, () => [work.task.stationKey]) ??
    without("repositories", match.repositories, () => repositoriesOf(work)) ??
    without("tools", match.tools, () => [String(work.event.tool ?? "")]) ??
    withoutPath(match.paths, work) ??
    (when === null || conditionHolds(when, hook, values())
      ? null
      : { condition: "when", wanted: when, saw: work.event })
  );
}

/** A pull request is in one repository; any other event is about all of the line's. */
function repositoriesOf({ event, task }: WorkEvent): readonly string[] {
  return typeof event.repository === "string" ? [event.repository] : task.repositories;
}

function without(
  condition: MatchCondition,
  wanted: readonly string[],
  there: () => readonly string[],
): Mismatch | null {
  if (wanted.length === 0) return null;
  const saw = there();
  return saw.some((value) => wanted.includes(value)) ? null : { condition, wanted, saw };
}

function withoutPath(wanted: readonly string[], { event }: WorkEvent): Mismatch | null {
  if (wanted.length === 0) return null;
  const changed = Array.isArray(event.changed) ? event.changed.map(String) : [];
  const patterns = wanted.map(pathPattern);
  const holds = changed.some((path) => patterns.some((pattern) => pattern.matches(path)));
  return holds ? null : { condition: "paths", wanted, saw: changed };
}
