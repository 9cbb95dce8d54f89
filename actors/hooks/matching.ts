import type { Work } from "../expressions/meter.js";
import type { WorkEvent } from "../tasks/work-event.js";
import { type Condition, repositoriesOf, type Subject } from "./conditions.js";
import type { HookFields } from "./hook.kind.js";

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

/** Whether all conditions hold: all of them, none but the first that does not, or too little work was left to tell. */
export type Verdict = "holds" | "undecided" | Condition;

/** Looks at the conditions in their order, and takes what that costs from `work`. */
export function judge(conditions: readonly Condition[], subject: Subject, work: Work): Verdict {
  for (const condition of conditions) {
    const holds = condition.holds(subject, work);
    if (holds !== true) return holds === null ? "undecided" : condition;
  }
  return "holds";
}
