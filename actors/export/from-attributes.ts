import type { z } from "zod";
import { attributeName, hiddenAt, type Schema, toProperties, toShape } from "./attributes.js";

/** An invalid attribute. */
export interface AttributeFault {
  /** The path in attribute form: `stations[0].timeout_minutes`. */
  readonly path: string;
  readonly message: string;
  /**
   * The attributes that the schema has at this position. Present only if the fault is an attribute that the schema does
   * not have.
   */
  readonly known?: readonly string[];
}

/** The result of converting attributes: the fields of a body, and the invalid attributes. */
export interface TakenFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly faults: readonly AttributeFault[];
}

export interface AttributeReading {
  /**
   * Marks the attributes whose values are unknown, in the same structure as the attributes. `true` marks a value and
   * everything below it.
   */
  readonly unknown: unknown;
  /** Paths of fields that attributes never set, with empty brackets for an index: `stations[].id`. */
  readonly omitted: readonly string[];
  /** The write-only fields, as in `Kind.hidden`. Default: none. */
  readonly hiddenPaths?: readonly string[];
}

/**
 * Converts attributes to the fields of a body: the reverse of `toAttributes`, without substitutions. Snake_case names
 * become the names of schema fields. The field of an unset (null) attribute is omitted. Other values are not validated.
 *
 * There are two faults: a set attribute that the schema does not have, and a value that is still unknown.
 */
export function fromAttributes(schema: z.ZodType, attributes: unknown, reading: AttributeReading): TakenFields {
  const faults: AttributeFault[] = [];
  const { unknown, omitted, hiddenPaths = [] } = reading;
  const place: Place = { path: "", form: "", unknown, omitted, hiddenPaths, faults };
  const fields = isKnown(place) ? structFrom(toShape(schema), attributes, place) : {};
  return { fields, faults };
}

/** A position among the attributes. */
interface Place {
  readonly path: string;
  /** The corresponding field path, with empty brackets for an index. */
  readonly form: string;
  readonly unknown: unknown;
  readonly omitted: readonly string[];
  readonly hiddenPaths: readonly string[];
  /** The shared list to which all positions add their faults. */
  readonly faults: AttributeFault[];
}

function isKnown({ path, unknown, faults }: Place): boolean {
  if (unknown === true) faults.push({ path, message: "is known only once the plan is applied" });
  return unknown !== true;
}

function structFrom(schema: Schema, attributes: unknown, place: Place): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const taken = new Set<string>();
  const hiddenNames = hiddenAt(place.form, place.hiddenPaths);
  for (const [name, { schema: below, snake }] of toProperties(schema)) {
    const written = attributeName(name, snake, hiddenNames);
    taken.add(written);
    const at = member(place, written, name);
    if (at.omitted.includes(at.form) || !isKnown(at)) continue;
    const value = fieldFrom(below, toMember(attributes, written), at);
    if (value !== undefined && value !== null) fields[name] = value;
  }
  const given = [...listNames(attributes), ...listNames(place.unknown)];
  for (const name of new Set(given.filter((each) => !taken.has(each)))) {
    if (!isSet(toMember(attributes, name)) && toMember(place.unknown, name) !== true) continue;
    const { path } = member(place, name, name);
    place.faults.push({ path, message: "is not a known attribute", known: [...taken] });
  }
  return fields;
}

function fieldFrom(schema: Schema, value: unknown, place: Place): unknown {
  const wanted = branchFor(schema, value);
  if (Array.isArray(value)) {
    const items = typeof wanted.items === "object" && !Array.isArray(wanted.items) ? wanted.items : {};
    return value.map((item, index) => {
      const at = element(place, index);
      return isKnown(at) ? fieldFrom(items, item, at) : null;
    });
  }
  if (typeof value !== "object" || value === null) return value;
  if (toProperties(wanted).size > 0) return structFrom(wanted, value, place);
  const below = typeof wanted.additionalProperties === "object" ? wanted.additionalProperties : {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const at = member(place, name, name);
      return isKnown(at) ? [[name, fieldFrom(below, each, at)]] : [];
    }),
  );
}

/**
 * Returns the alternative of the schema that fits the value:
 *
 * - The schema itself, if it has no alternatives.
 * - For a list, the alternative for lists.
 * - For an object, the first alternative for objects that has all set attributes, or else the first one for objects.
 *
 * Returns `{}` if no alternative fits.
 */
function branchFor(schema: Schema, value: unknown): Schema {
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).filter((each): each is Schema => typeof each === "object");
  if (alternatives.length === 0) return schema;
  const nested = alternatives.map((each) => branchFor(each, value));
  if (Array.isArray(value)) return nested.find((each) => each.items !== undefined) ?? {};
  const objects = nested.filter((each) => each.type === "object");
  const names = listNames(value).filter((name) => isSet(toMember(value, name)));
  const hasAll = (each: Schema): boolean => {
    const known = new Set([...toProperties(each).values()].map(({ snake }) => snake));
    return known.size > 0 && names.every((name) => known.has(name));
  };
  return objects.find(hasAll) ?? objects[0] ?? {};
}

function member(place: Place, snake: string, name: string): Place {
  const after = (path: string, last: string) => (path === "" ? last : `${path}.${last}`);
  return {
    ...place,
    path: after(place.path, snake),
    form: after(place.form, name),
    unknown: toMember(place.unknown, snake),
  };
}

function element(place: Place, index: number): Place {
  const unknown = Array.isArray(place.unknown) ? place.unknown[index] : undefined;
  return { ...place, path: `${place.path}[${index}]`, form: `${place.form}[]`, unknown };
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function listNames(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function toMember(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([each]) => each === name)?.[1];
}
