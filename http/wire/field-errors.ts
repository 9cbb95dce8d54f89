import type { z } from "zod";
import { type FieldError, pathText } from "../../actors/refusal.js";

/** Maximum number of errors to report for one body. */
const MAX_FAULTS = 200;

/**
 * Parses a value by a schema. Returns the parsed data, or the first {@link MAX_FAULTS} errors in body order. An integer
 * beyond 2^53 is a `bigint` in `value`. Where the schema expects a number, such an integer becomes a double first.
 */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
): { readonly data: z.output<Schema> } | { readonly errors: readonly FieldError[] } {
  let value = given;
  let parsed = safeParse(schema, value);
  if (parsed?.success === false) {
    value = withDoubles(value, parsed.error.issues);
    if (value !== given) parsed = safeParse(schema, value);
  }
  if (parsed === null) return { errors: [{ path: "", message: "is not valid" }] };
  if (!parsed.success) return { errors: firstErrors(parsed.error.issues, value) };
  if (!holdsLostName(value)) return { data: parsed.data };
  return { errors: findLostNames(value, []).slice(0, MAX_FAULTS) };
}

function firstErrors(issues: readonly z.core.$ZodIssue[], root: unknown): FieldError[] {
  return issues
    .slice(0, MAX_FAULTS)
    .flatMap((each) => listErrors(each, [], root))
    .slice(0, MAX_FAULTS);
}

/**
 * Returns a copy of the value in which each `bigint` at the path of an issue is a double. Returns the value itself if
 * there is no such `bigint`.
 */
function withDoubles(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  return issues
    .slice(0, MAX_FAULTS)
    .flatMap((issue) => listPaths(issue, []))
    .reduce(withDoubleAt, value);
}

/** Returns the path of an issue and, for a union, the paths of the issues of each option. */
function listPaths(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): (readonly PropertyKey[])[] {
  const path = [...above, ...issue.path];
  const inner = issue.code === "invalid_union" ? issue.errors.flat() : [];
  return [path, ...inner.flatMap((each) => listPaths(each, path))];
}

function withDoubleAt(value: unknown, [name, ...below]: readonly PropertyKey[]): unknown {
  if (name === undefined) return typeof value === "bigint" ? Number(value) : value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
  const was: unknown = Reflect.get(value, name);
  const now = withDoubleAt(was, below);
  if (was === now) return value;
  return Array.isArray(value) ? value.with(Number(name), now) : { ...value, [name]: now };
}

/** Zod silently drops this name from maps, so a value sent under it would be lost. */
const LOST = "__proto__";

/**
 * Whether a value contains the name {@link LOST} at any depth. Call it before {@link findLostNames}: it is cheaper, and
 * almost no body contains the name.
 */
function holdsLostName(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false;
  if (Array.isArray(value)) return value.some(holdsLostName);
  for (const name of Object.keys(value)) {
    if (name === LOST || holdsLostName((value as Readonly<Record<string, unknown>>)[name])) return true;
  }
  return false;
}

function findLostNames(value: unknown, path: readonly PropertyKey[]): FieldError[] {
  // Skip a byte array: it has a property for each byte, and no names from a client.
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findLostNames(item, [...path, index]));
  return Object.keys(value).flatMap((name) => {
    const at = [...path, name];
    if (name === LOST) return [{ path: pathText(at), message: "is not an allowed name" }];
    return findLostNames((value as Readonly<Record<string, unknown>>)[name], at);
  });
}

/**
 * Parses a value by a schema and works around a flaw in Zod. Zod reads the `length` of any value that has such a field,
 * and throws if the field is an object that cannot convert to a primitive. This function then parses the value again
 * without such fields, and returns the errors. It returns null if this second parse finds no error.
 */
function safeParse<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  try {
    return schema.safeParse(value, SENTENCES);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
  const again = schema.safeParse(withoutOddLengths(value), SENTENCES);
  return again.success ? null : again;
}

function withoutOddLengths(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOddLengths);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => !(["length", "size"].includes(name) && typeof inner === "object" && inner !== null),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutOddLengths(inner)]));
}

/**
 * Converts an issue into errors for the client. `root` is the whole body. A missing field is reported as missing, even
 * if the schema has its own message for the field.
 */
function listErrors(issue: z.core.$ZodIssue, above: readonly PropertyKey[], root: unknown): FieldError[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys
        .slice(0, MAX_FAULTS)
        .map((key) => ({ path: pathText([...path, key]), message: "is not a field here" }));
    case "invalid_key":
      return [{ path: pathText(path), message: issue.issues[0]?.message ?? "is not a valid name" }];
    case "invalid_union":
      return unionErrors(issue, path, root);
    case "invalid_type":
    case "invalid_value":
      return [{ path: pathText(path), message: isMissing(root, path) ? "is required" : issue.message }];
    default:
      return [{ path: pathText(path), message: issue.message }];
  }
}

/**
 * Returns the errors of the option with the fewest errors, because the client most likely meant that one. An option
 * with a fixed-value field (a discriminator) comes last if the body lacks that field.
 */
function unionErrors(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[], root: unknown): FieldError[] {
  const lacksName = (branch: readonly z.core.$ZodIssue[]) =>
    Number(branch.some((inner) => isUnnamed(inner, path, root)));
  const closest = issue.errors
    .filter((branch) => branch.some((inner) => inner.path.length > 0 || inner.code !== "invalid_type"))
    .sort((left, right) => lacksName(left) - lacksName(right) || left.length - right.length)[0];
  if (closest === undefined) return [{ path: pathText(path), message: issue.message }];
  return closest.flatMap((inner) => listErrors(inner, path, root));
}

/** Whether this issue is a missing fixed-value field (a discriminator) of a union option. */
function isUnnamed(issue: z.core.$ZodIssue, above: readonly PropertyKey[], root: unknown): boolean {
  return issue.code === "invalid_value" && issue.values.length === 1 && isMissing(root, [...above, ...issue.path]);
}

function isMissing(root: unknown, path: readonly PropertyKey[]): boolean {
  const found = path.reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
    root,
  );
  return path.length > 0 && found === undefined;
}

const typeSentences: Readonly<Record<string, string>> = {
  string: "must be text",
  number: "must be a number",
  int: "must be a whole number",
  boolean: "must be true or false",
  array: "must be a list",
  object: "must be an object",
  record: "must be an object",
  null: "must be null",
};

/** The message for an issue whose schema has no message of its own. */
function toSentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return typeSentences[String(issue.expected)] ?? `must be ${issue.expected}`;
    case "invalid_value":
      if (issue.input === undefined) return "is required";
      return `must be ${(issue.values as readonly unknown[]).map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return sizeSentence("at least", issue.origin, issue.minimum);
    case "too_big":
      return sizeSentence("at most", issue.origin, issue.maximum);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return "has an invalid format";
    case "invalid_union":
      return issue.input === undefined ? "is required" : "matches none of the allowed forms";
    case "invalid_key":
      return "is not a valid name";
    default:
      return "is not valid";
  }
}

const SENTENCES = { error: toSentence };

function sizeSentence(bound: "at least" | "at most", origin: unknown, size: unknown): string {
  if (bound === "at least" && size === 1 && origin !== "number" && origin !== "int") return "must not be empty";
  if (origin === "string") return `must be ${bound} ${size} characters`;
  if (origin === "array" || origin === "set") return `must hold ${bound} ${size} entries`;
  return `must be ${bound} ${size}`;
}
