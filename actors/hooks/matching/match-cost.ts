import type { ResourceRow } from "../../resources/resource.table.js";
import type { HookFields } from "../hook.js";

/** Cost of reading any uncached hook, in units of the meter. */
const UNITS_A_HOOK = 300;
/** Cost of compiling its conditions, per character of `when` and of a glob. */
const UNITS_A_CHARACTER_OF_WHEN = 4;
const UNITS_A_CHARACTER_OF_GLOB = 1;
/** Additional cost of reading, per value, and the number of text characters per unit. */
const UNITS_A_VALUE = 3;
const CHARACTERS_A_UNIT = 32;

const known = new WeakMap<ResourceRow<HookFields>, number>();

/**
 * Returns the cost of preparing a hook for matching, in units of the meter: reading it and compiling its conditions,
 * without caches. A hook may be as large as a request's body.
 */
export function matchCost(hook: ResourceRow<HookFields>): number {
  const before = known.get(hook);
  if (before !== undefined) return before;
  const { when, match } = hook.fields;
  const toMake =
    UNITS_A_CHARACTER_OF_WHEN * (when?.length ?? 0) +
    match.paths.reduce((sum, glob) => sum + UNITS_A_CHARACTER_OF_GLOB * glob.length, 0);
  const units = UNITS_A_HOOK + toMake + readCost(hook.fields);
  known.set(hook, units);
  return units;
}

function readCost(value: unknown): number {
  if (typeof value === "string") return UNITS_A_VALUE + value.length / CHARACTERS_A_UNIT;
  if (typeof value !== "object" || value === null) return UNITS_A_VALUE;
  let units = UNITS_A_VALUE;
  for (const inner of Object.values(value)) units += readCost(inner);
  return units;
}
