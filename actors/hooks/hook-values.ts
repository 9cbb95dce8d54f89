import type { WorkEvent } from "../events/catalogue.js";
import { DYN } from "../expressions/cel-types.js";
import { createNames, type Names } from "../expressions/evaluate.js";
import { hookNames } from "../expressions/positions.js";
import { toValue, type Value } from "../expressions/values.js";
import type { HookFields } from "./hook.js";

/** The values that the expressions of every hook on one event see. */
export interface EventValues extends Names {
  readonly event: Value;
  readonly task: Value;
  readonly run: Value;
}

/**
 * Caches the values of each event that is in memory, because the conditions and requests of all hooks on the event use
 * them.
 */
const cachedValues = new WeakMap<WorkEvent, EventValues>();

/** Returns the event, its task and its run as expressions see them. */
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

type OwnFields = Pick<HookFields, "key" | "vars">;

/** The values of a hook's own fields, cached while the fields are in memory. */
const cachedOwnValues = new WeakMap<OwnFields, Names>();

/** Returns all names that a hook's expressions see on an event, except the outputs of its steps. */
export function toHookValues(hook: OwnFields, values: EventValues): Names {
  return createNames(values, toOwnValues(hook));
}

/** Returns all names that a hook's expressions see on an event, including the outputs of earlier steps. */
export function toStepValues(hook: OwnFields, values: EventValues, step: Value): Names {
  return createNames(values, toOwnValues(hook), { step });
}

function toOwnValues(hook: OwnFields): Names {
  const known = cachedOwnValues.get(hook);
  if (known !== undefined) return known;
  const values = { vars: toValue(hook.vars, DYN), hook: new Map([["key", hook.key]]) };
  cachedOwnValues.set(hook, values);
  return values;
}
