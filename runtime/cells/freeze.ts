const plainPrototypes: readonly unknown[] = [Object.prototype, Array.prototype, null];

/**
 * Deeply freezes plain data, so that a later mutation throws. Throws a TypeError on values that a store would not
 * return unchanged: functions, symbols and class instances. Dates and bytes are allowed, but not frozen.
 */
export function freeze<Value>(value: Value): Value {
  if (typeof value === "function" || typeof value === "symbol")
    throw new TypeError(`a ${typeof value} is no plain data`);
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof Date) return value;
  if (!plainPrototypes.includes(Object.getPrototypeOf(value))) {
    throw new TypeError(`an instance of ${value.constructor.name} is no plain data`);
  }
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
  return value;
}
