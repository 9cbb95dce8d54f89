/** A value of a file. Strings may contain marks of expressions until they are evaluated. */
export type Value = null | boolean | number | bigint | string | readonly Value[] | ValueMap;
export interface ValueMap {
  readonly [name: string]: Value;
}

export function isMap(value: Value | undefined): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}
