import { isDeepStrictEqual } from "node:util";

/** Returns the members of `after` that differ from those of `before`; all members if `before` is null. */
export function changedMembers<Value extends object>(before: Value | null, after: Value): Partial<Value> {
  if (before === null) return after;
  const changed: Partial<Value> = {};
  for (const name of Object.keys(after) as (keyof Value)[]) {
    const [is, was] = [after[name], before[name]];
    // Most members are plain values that did not change, so compare cheaply first.
    if (is !== was && !isDeepStrictEqual(was, is)) changed[name] = is;
  }
  return changed;
}
