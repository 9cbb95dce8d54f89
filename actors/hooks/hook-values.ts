import type { WorkEvent } from "../events/catalogue.js";
import { DYN } from "../expressions/cel-types.js";
import type { Names } from "../expressions/evaluate.js";
import { hookNames } from "../expressions/positions.js";
import { toValue, type Value } from "../expressions/values.js";
import type { HookFields } from "./hook.js";

/** What the expressions of every hook on one event see. */
export interface EventValues {
  readonly event: Value;
  readonly task: Value;
  readonly run: Value;
}

/** Cached while an event is in memory: conditions and requests of all its hooks share the same values. */
const cachedValues = new WeakMap<WorkEvent, EventValues>();

/** The event, its task and its run, as expressions see them. */
export function toEventValues(work: WorkEvent): EventValues {
  const known = cachedValues.get(work);
  if (known !== undefined) return known;
  const { event, task, run } = work;
  const values = {
    event: toValue(event, DYN),
    task: toValue(task, hookNames.task ?? DYN),
    run: toValue(run, DYN),
  };
  cachedValues.set(work, values);
  return values;
}

/** What expressions see of the hook itself. */
export function toHookOwnValues({ key, vars }: Pick<HookFields, "key" | "vars">): Names {
  return { vars: toValue(vars, DYN), hook: new Map([["key", key]]) };
}

/** All names that one hook's expressions see, except the outputs of its steps. */
export function toHookValues(hook: Pick<HookFields, "key" | "vars">, values: EventValues): Names {
  return { ...values, ...toHookOwnValues(hook) };
}
