import { DYN } from "../expressions/cel-types.js";
import type { Names } from "../expressions/evaluate.js";
import { hookNames } from "../expressions/positions.js";
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

/** What expressions see of the hook itself. */
export function ownValues({ key, vars }: Pick<HookFields, "key" | "vars">): Names {
  return { vars: valueOfJson(vars, DYN), hook: new Map([["key", key]]) };
}

/** All names of one hook, but the outputs of its steps. */
export function hookValues(hook: Pick<HookFields, "key" | "vars">, values: EventValues): Names {
  return { ...values, ...ownValues(hook) };
}
