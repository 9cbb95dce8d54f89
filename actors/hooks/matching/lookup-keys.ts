import type { WorkEvent } from "../../events/catalogue.js";
import type { Work } from "../../expressions/meter.js";
import type { HookFields } from "../hook.js";
import { type Condition, eventRepositories, type Subject } from "./conditions.js";

/** The match lists that hooks are indexed by, the most selective first. */
const indexedLists = ["lines", "stations", "repositories", "tools"] as const;

/**
 * Returns the lookup keys of a hook: one for each entry of its first non-empty match list. If all lists are empty, the
 * only key is that of its event.
 */
export function lookupKeys({ on, match }: Pick<HookFields, "on" | "match">): string[] {
  const list = indexedLists.find((name) => match[name].length > 0);
  return list === undefined ? [on] : match[list].map((value) => lookupKey(on, list, value));
}

function lookupKey(on: string, list: (typeof indexedLists)[number], value: string): string {
  return `${on} ${list} ${value}`;
}

/** Returns the lookup keys of all hooks that could match an event. No other hook needs matching. */
export function eventLookupKeys(work: WorkEvent): string[] {
  const { on, task, event } = work;
  const keys: string[] = [on, lookupKey(on, "lines", task.line), lookupKey(on, "stations", task.stationKey)];
  for (const repository of eventRepositories(work)) keys.push(lookupKey(on, "repositories", repository));
  if (typeof event.tool === "string") keys.push(lookupKey(on, "tools", event.tool));
  return keys;
}

/**
 * Whether all conditions hold. `undecided`: the remaining work was too little. A condition: the first that does not
 * hold.
 */
export type MatchResult = "holds" | "undecided" | Condition;

/** Evaluates the conditions in order, and subtracts the cost from `work`. */
export function evaluateConditions(conditions: readonly Condition[], subject: Subject, work: Work): MatchResult {
  for (const condition of conditions) {
    const holds = condition.holds(subject, work);
    if (holds !== true) return holds === null ? "undecided" : condition;
  }
  return "holds";
}
