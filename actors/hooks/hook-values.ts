import { DYN } from "../expressions/cel-types.js";
import { compile, type Names, type Outcome } from "../expressions/evaluate.js";
import { hookNames } from "../expressions/positions.js";
import { isTemplate, onlyExpression, readTemplate } from "../expressions/templates.js";
import { type Value, valueOfJson } from "../expressions/values.js";
import type { WorkEvent } from "../tasks/work-event.js";
import type { HookFields } from "./hook.kind.js";

/** What the expressions of every hook on one event see; made once an event. */
export interface EventValues {
  readonly event: Value;
  readonly task: Value;
  readonly run: Value;
}

/** The event, its task and its run, as expressions see them. */
export function eventValues({ event, task, run }: WorkEvent): EventValues {
  return {
    event: valueOfJson(event, DYN),
    task: valueOfJson(task, hookNames.task ?? DYN),
    run: valueOfJson(run, DYN),
  };
}

/** All names of one hook, but the outputs of its steps. */
export function hookValues({ key, vars }: Pick<HookFields, "key" | "vars">, values: EventValues): Names {
  return { ...values, vars: valueOfJson(vars, DYN), hook: new Map([["key", key]]) };
}

/** Whether a hook's `when` holds; one that has no value does not. */
export function conditionHolds(when: string, hook: Pick<HookFields, "key" | "vars">, values: EventValues): boolean {
  return compile(sourceOf(when)).holds(hookValues(hook, values));
}

/** What a hook's `when` comes to, for whom its condition is a riddle. */
export function conditionOutcome(when: string, hook: Pick<HookFields, "key" | "vars">, values: EventValues): Outcome {
  return compile(sourceOf(when)).evaluate(hookValues(hook, values));
}

/** A condition without its `${{ }}`. */
function sourceOf(when: string): string {
  if (!isTemplate(when)) return when;
  const read = readTemplate(when);
  return "fault" in read ? when : (onlyExpression(read.template)?.source ?? when);
}
