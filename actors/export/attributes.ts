import { z } from "zod";
import { pathText } from "../refusal.js";
import type { Entries, HclValue } from "./hcl.js";

export type Schema = z.core.JSONSchema.JSONSchema;

/**
 * What the export writes in place of some values: replacements for texts, values of write-only fields, and the fields
 * to omit.
 */
export interface Substitutions {
  /** The replacement for the text at a path of the body, or null to write the text itself. */
  at(path: readonly PropertyKey[], text: string): HclValue | null;
  /** The value to write for a write-only field, or null to omit the field. */
  hidden(path: string): HclValue | null;
  /** The paths of the write-only fields. */
  readonly hiddenPaths: readonly string[];
  /** Omitted fields, by path with empty brackets for an index: `stations[].id`. */
  readonly omitted: readonly string[];
}

/**
 * Converts the fields of a resource to attributes, in the order of its schema.
 *
 * - The names of schema fields become snake_case. Names that a user chose (in a map or in free JSON) stay unchanged,
 *   and are sorted.
 * - A field with null is omitted, which leaves the attribute unset. All other values are written, including defaults,
 *   and nulls in maps, lists and free JSON.
 * - A write-only field becomes `<name>_wo`, and its version `<name>_wo_version`.
 */
export function toAttributes(schema: z.ZodType, fields: unknown, substitutions: Substitutions): Entries {
  return structEntries(toProperties(toShape(schema)), fields, [], substitutions);
}

/** Caches the JSON Schema of each schema, because a workspace may have thousands of resources of one kind. */
const shapes = new WeakMap<z.ZodType, Schema>();

/** Returns the JSON Schema of a parsed body, which has all defaults. */
export function toShape(schema: z.ZodType): Schema {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" });
  shapes.set(schema, shape);
  return shape;
}

function structEntries(
  properties: Properties,
  fields: unknown,
  path: readonly PropertyKey[],
  substitutions: Substitutions,
): Entries {
  const hiddenNames = hiddenAt(pathText(path), substitutions.hiddenPaths);
  const entries: [string, HclValue][] = [];
  for (const [name, { schema, snake }] of properties) {
    const at = [...path, name];
    if (isOmitted(at, substitutions)) continue;
    const written = attributeName(name, snake, hiddenNames);
    if (hiddenNames.includes(name)) {
      const value = substitutions.hidden(pathText(at));
      if (value !== null) entries.push([written, value]);
      continue;
    }
    const value = toMember(fields, name);
    if (value === null || value === undefined) continue;
    entries.push([written, valueFor(schema, value, at, substitutions)]);
  }
  return entries;
}

/** Returns the write-only fields below `path` ("" for the body). The returned paths are relative to `path`. */
export function hiddenAt(path: string, hiddenPaths: readonly string[]): readonly string[] {
  if (hiddenPaths.length === 0) return [];
  const under = path === "" ? "" : `${path}.`;
  return hiddenPaths.filter((each) => each.startsWith(under)).map((each) => each.slice(under.length));
}

/**
 * Returns the attribute of a field. `snake` is the field's name in snake_case; `hiddenNames` are the write-only fields
 * of the same object.
 */
export function attributeName(name: string, snake: string, hiddenNames: readonly string[]): string {
  if (hiddenNames.includes(name)) return `${snake}_wo`;
  const versioned = name.endsWith("Version") ? name.slice(0, -"Version".length) : "";
  return hiddenNames.includes(versioned) ? `${snakeCase(versioned)}_wo_version` : snake;
}

function isOmitted(path: readonly PropertyKey[], { omitted }: Substitutions): boolean {
  return omitted.length > 0 && omitted.includes(pathText(path).replace(/\[\d+\]/g, "[]"));
}

function valueFor(
  schema: Schema,
  value: unknown,
  path: readonly PropertyKey[],
  substitutions: Substitutions,
): HclValue {
  if (typeof value === "string") return substitutions.at(path, value) ?? value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" || value === null)
    return value;
  const branch = branchFor(schema, value);
  if (Array.isArray(value)) {
    const items = typeof branch.items === "object" && !Array.isArray(branch.items) ? branch.items : {};
    return value.map((item, index) => valueFor(items, item, [...path, index], substitutions));
  }
  const properties = toProperties(branch);
  if (properties.size > 0) return { entries: structEntries(properties, value, path, substitutions) };
  const fields = toRecord(value);
  const below = typeof branch.additionalProperties === "object" ? branch.additionalProperties : {};
  return {
    entries: Object.keys(fields)
      .sort()
      .filter((name) => fields[name] !== undefined)
      .map((name) => [name, valueFor(below, fields[name], [...path, name], substitutions)] as const),
  };
}

/**
 * Returns the alternative of the schema that fits the value. A schema without alternatives is returned unchanged.
 *
 * - For a list: the alternative for lists.
 * - For an object: the first alternative that has all names of the object, or else the first one for objects.
 *
 * Returns `{}` if there is no such alternative.
 */
function branchFor(schema: Schema, value: unknown): Schema {
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).filter((each): each is Schema => typeof each === "object");
  if (alternatives.length === 0) return schema;
  const nested = alternatives.map((each) => branchFor(each, value));
  if (Array.isArray(value)) return nested.find((each) => each.items !== undefined) ?? {};
  const names = Object.keys(toRecord(value));
  return (
    nested.find((each) => {
      const known = toProperties(each);
      return known.size > 0 && names.every((name) => known.has(name));
    }) ??
    nested.find((each) => each.type === "object") ??
    {}
  );
}

/**
 * The fields of an object by name, in schema order. Empty if the schema does not describe an object with known fields.
 */
type Properties = ReadonlyMap<string, { readonly schema: Schema; readonly snake: string }>;

const described = new WeakMap<Schema, Properties>();

export function toProperties(schema: Schema): Properties {
  const known = described.get(schema);
  if (known !== undefined) return known;
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, each]) => [
      name,
      { schema: typeof each === "object" ? each : {}, snake: snakeCase(name) },
    ]),
  );
  described.set(schema, properties);
  return properties;
}

function toMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

/** Converts a name to snake_case: `timeoutSeconds` -> `timeout_seconds`. */
export function snakeCase(name: string): string {
  return name.replace(/-/g, "_").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
