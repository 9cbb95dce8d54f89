import type { z } from "zod";
import type { FieldError } from "../actors/refusal.js";

/** A path as the reference writes it: `field`, `list[0].field`, `map["odd key"].field`; "" for the whole. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = String(part);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** What a schema found wrong, an entry a fault, in the order of the body. */
export function fieldErrors(error: z.ZodError): readonly FieldError[] {
  return error.issues.flatMap((issue) => errorsOf(issue, []));
}

function errorsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): FieldError[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: pathText([...path, key]), message: "is not a field here" }));
    case "invalid_key":
      return [{ path: pathText(path), message: issue.issues[0]?.message ?? "is not a valid name" }];
    case "invalid_union":
      return unionErrors(issue.errors, path);
    case "invalid_type":
      return [{ path: pathText(path), message: typeMessage(issue) }];
    default:
      return [{ path: pathText(path), message: issue.message }];
  }
}

/** Of the branches that failed, the one that got furthest says best what was wanted. */
function unionErrors(branches: readonly (readonly z.core.$ZodIssue[])[], path: readonly PropertyKey[]): FieldError[] {
  const deepest = branches
    .filter((branch) => branch.some((issue) => issue.path.length > 0 || issue.code !== "invalid_type"))
    .sort((left, right) => left.length - right.length)[0];
  if (deepest === undefined) return [{ path: pathText(path), message: "is of none of the forms taken here" }];
  return deepest.flatMap((issue) => errorsOf(issue, path));
}

function typeMessage(issue: Extract<z.core.$ZodIssue, { code: "invalid_type" }>): string {
  if (issue.input === undefined) return "is required";
  const wanted: Record<string, string> = {
    string: "must be text",
    number: "must be a number",
    int: "must be a whole number",
    boolean: "must be true or false",
    array: "must be a list",
    object: "must be an object",
    record: "must be an object",
    null: "must be null",
  };
  return wanted[issue.expected] ?? `must be ${issue.expected}`;
}
