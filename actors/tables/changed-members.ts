import { isDeepStrictEqual } from "node:util";

/** The members of `after` that differ from those of `before`; all of them without one. */
export function changedMembers<Value extends object>(before: Value | null, after: Value): Partial<Value> {
  if (before === null) return after;
  const members = Object.entries(after) as [keyof Value, Value[keyof Value]][];
  const changed = members.filter(([name, value]) => !isDeepStrictEqual(before[name], value));
  return Object.fromEntries(changed) as Partial<Value>;
}
