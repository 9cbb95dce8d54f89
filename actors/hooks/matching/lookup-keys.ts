import type { WorkEvent } from "../../events/catalogue.js";
import type { Work } from "../../expressions/meter.js";
import type { HookFields } from "../hook.js";
import { type Condition, eventRepositories, type Subject } from "./conditions.js";

/** The lists that hooks are found by, the one that leaves fewest first. */
const indexedLists = ["lines", "stations", "repositories", "tools"] as const;

/** The words that a hook is listed under: those of one of its lists, or its event alone when it has none. */
export function lookupKeys({ on, match }: Pick<HookFields, "on" | "match">): string[] {
  const list = indexedLists.find((name) => match[name].length > 0);
  return list === undefined ? [on] : match[list].map((value) => lookupKey(on, list, value));
}

function lookupKey(on: string, list: (typeof indexedLists)[number], value: string): string {
  return `${on} ${list} ${value}`;
}

/** The words that every hook which could match an event is listed under: no other has to be looked at. */
export function eventLookupKeys(work: WorkEvent): string[] {
  const { on, task, event } = work;
  const words: string[] = [on, lookupKey(on, "lines", task.line), lookupKey(on, "stations", task.stationKey)];
  for (const repository of eventRepositories(work)) words.push(lookupKey(on, "repositories", repository));
  if (typeof event.tool === "string") words.push(lookupKey(on, "tools", event.tool));
  return words;
}

/** Whether all conditions hold: all of them, none but the first that does not, or too little work was left to tell. */
export type MatchResult = "holds" | "undecided" | Condition;

/** Looks at the conditions in their order, and takes what that costs from `work`. */
export function evaluateConditions(conditions: readonly Condition[], subject: Subject, work: Work): MatchResult {
  for (const condition of conditions) {
    const holds = condition.holds(subject, work);
    if (holds !== true) return holds === null ? "undecided" : condition;
  }
  return "holds";
}
