import {
  attributeName,
  hiddenAt,
  type Schema,
  snakeCase,
  toProperties,
  toShape,
} from "../../../actors/export/attributes.js";
import { nearest } from "../../../actors/expressions/suggest.js";
import type { Kind } from "../../../actors/resources/kind.js";

/**
 * Maps a kind's `heldBy` to the attribute that refers to a resource's holder; null if the resources have no such
 * attribute.
 */
export const holders = { none: null, workspace: "workspace_id", team: "team_id", station: null } as const;

/** The attribute that only sets the order of changes. */
export const ORDER = "depends_on";

/** Returns the attribute path of a hidden field: `["signing", "secret_wo"]` for `signing.secret`. */
export function hiddenAttribute(path: string): readonly string[] {
  const names = path.split(".").map(snakeCase);
  return [...names.slice(0, -1), `${names.at(-1)}_wo`];
}

/**
 * Returns the attribute path of a write-only field or of its version field, such as `signing.secret_wo_version`.
 * Returns any other path unchanged.
 */
export function attributePath(kind: Kind, path: string): string {
  const hidden = kind.hidden.find((field) => path === field.path || path === `${field.path}Version`);
  if (hidden === undefined) return path;
  return `${hiddenAttribute(hidden.path).join(".")}${path === hidden.path ? "" : "_version"}`;
}

/** Lists the top-level attributes of a kind's resources. */
export function attributesOf(kind: Kind): readonly string[] {
  const hiddenNames = hiddenAt(
    "",
    kind.hidden.map(({ path }) => path),
  );
  const omitted = kind.hcl?.omitted ?? [];
  const own = [...toProperties(toShape(kind.schema))].filter(([name]) => !omitted.includes(name));
  const holder = holders[kind.heldBy];
  return [
    ...(holder === null ? [] : [holder]),
    ...own.map(([name, { snake }]) => attributeName(name, snake, hiddenNames)),
    ORDER,
  ];
}

/** Maximum number of names to list. */
const MAX_LISTED = 30;

/**
 * Returns advice for an unknown name: `; did you mean key?`, or else a list of the known names. Empty if no names are
 * known.
 */
export function adviseName(name: string, known: readonly string[]): string {
  const near = adviseNear(name, known);
  if (near !== "" || known.length === 0) return near;
  const more = known.length > MAX_LISTED ? ", …" : "";
  return `; expected one of ${known.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** Returns `; did you mean key?` with a similar known name; empty if none is similar. */
export function adviseNear(name: string, known: Iterable<string>): string {
  const names = [...known];
  const near = names.find((each) => each === `${name}_wo`) ?? nearest(name, names) ?? startingWith(name, names);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Returns the first name that begins with `name` and `_`, such as `team_id` for `team`. */
function startingWith(name: string, names: readonly string[]): string | undefined {
  return names.find((each) => each.startsWith(`${name}_`));
}

const fieldsByKind = new WeakMap<Kind, ReadonlyMap<string, string>>();

/**
 * Replaces field names in a message of the service (`secretVersion`) with their attribute names (`secret_wo_version`).
 */
export function withAttributes(kind: Kind, message: string): string {
  const known = fieldsByKind.get(kind) ?? new Map(renamedFields(toShape(kind.schema), kind, new Set()));
  fieldsByKind.set(kind, known);
  return message.replace(/\b[a-z]+[A-Z]\w*\b/g, (word) => known.get(word) ?? word);
}

/** Lists the camelCase fields at all levels of a schema, with their attribute names. */
function renamedFields(schema: Schema, kind: Kind, seen: Set<Schema>): (readonly [string, string])[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const hiddenNames = kind.hidden.map(({ path }) => path.split(".").at(-1) ?? path);
  const properties = [...toProperties(schema)];
  const own = properties
    .filter(([name]) => /[A-Z]/.test(name))
    .map(([name, { snake }]) => [name, attributeName(name, snake, hiddenNames)] as const);
  const parts = [
    ...properties.map(([, each]) => each.schema),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...[schema.items ?? []].flat(),
    schema.additionalProperties,
  ];
  const below = parts.flatMap((part) => (typeof part === "object" ? renamedFields(part, kind, seen) : []));
  return [...own, ...below];
}
