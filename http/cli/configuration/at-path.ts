/** A nested object: the fields of a body, or values of a file. */
type Fields<Value> = Readonly<Record<string, Value>>;

/**
 * Removes the value at a path. Returns the remaining fields and the removed value, which is undefined if the path has
 * no value. A list with a single object counts as that object, because blocks are read as lists.
 */
export function takeAt<Value>(
  from: Fields<Value>,
  [name = "", ...below]: readonly string[],
): { readonly rest: Fields<Value>; readonly value: Value | undefined } {
  if (!Object.hasOwn(from, name)) return { rest: from, value: undefined };
  const { [name]: found, ...others } = from;
  if (below.length === 0) return { rest: others, value: found };
  const isBlock = Array.isArray(found) && found.length === 1;
  const inside: unknown = isBlock ? found[0] : found;
  if (!isObject<Value>(inside)) return { rest: from, value: undefined };
  const { rest, value } = takeAt(inside, below);
  return { rest: { ...from, [name]: (isBlock ? [rest] : rest) as Value }, value };
}

/** Returns the fields with the value set at the path. Creates missing objects on the way. */
export function putAt(
  into: Fields<unknown>,
  [name = "", ...below]: readonly string[],
  value: unknown,
): Fields<unknown> {
  const inside = Object.hasOwn(into, name) ? into[name] : undefined;
  if (below.length === 0) return { ...into, [name]: value };
  return { ...into, [name]: putAt(isObject<unknown>(inside) ? inside : {}, below, value) };
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(from: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject<unknown>(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    from,
  );
}

function isObject<Value>(value: unknown): value is Fields<Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
