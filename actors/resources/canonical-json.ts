import { writeJson } from "../exact-json.js";

/** Converts a value to JSON that is the same for equal values, in any member order. Omits `undefined` members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return writeJson(value) ?? "null";
  let members = "";
  for (const name of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
