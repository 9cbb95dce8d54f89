import { toAttributes } from "../../../actors/export/attributes.js";
import type { Entries, HclValue } from "../../../actors/export/hcl.js";
import { canonicalJson } from "../../../actors/resources/canonical-json.js";
import type { Kind } from "../../../actors/resources/kind.js";
import { isList, isMap, type Value, type ValueMap } from "./value.js";

/** A field that changes. */
export interface FieldChange {
  /** The path in the form of attributes: `stations["work"].timeout_minutes`. */
  readonly field: string;
  /** Null if it is not set. */
  readonly old: Value;
  /** Null if it is not set. */
  readonly new: Value;
  /** Whether the values are secret, so that `old` and `new` are null. */
  readonly isSecret?: true;
}

/** Converts the fields of a body to plain attributes. Unset fields are omitted. */
export function plainAttributes(kind: Kind, fields: Readonly<Record<string, unknown>>): ValueMap {
  const entries = toAttributes(kind.schema, fields, {
    at: () => null,
    hidden: () => null,
    hiddenPaths: kind.hidden.map(({ path }) => path),
    omitted: kind.hcl?.omitted ?? [],
  });
  return toMap(entries);
}

function toMap(entries: Entries): ValueMap {
  return Object.fromEntries(entries.map(([name, value]) => [name, toPlain(value)]));
}

function toPlain(value: HclValue): Value {
  if (typeof value !== "object" || value === null) return value;
  if (isHclList(value)) return value.map(toPlain);
  return "entries" in value ? toMap(value.entries) : null;
}

function isHclList(value: HclValue): value is readonly HclValue[] {
  return Array.isArray(value);
}

/** Lists the attributes that differ between two versions of a resource. */
export function listChanges(before: ValueMap, after: ValueMap): readonly FieldChange[] {
  return mapChanges("", before, after);
}

function changes(field: string, old: Value, now: Value): readonly FieldChange[] {
  if (isSame(old, now)) return [];
  if (isMap(old) && isMap(now)) return mapChanges(field, old, now);
  if (isList(old) && isList(now)) return listItemChanges(field, old, now);
  return [{ field, old, new: now }];
}

function mapChanges(field: string, old: ValueMap, now: ValueMap): readonly FieldChange[] {
  const names = new Set([...Object.keys(now), ...Object.keys(old)]);
  return [...names].flatMap((name) => changes(memberPath(field, name), own(old, name), own(now, name)));
}

/**
 * Compares two lists. If the items have names (stations have keys, files have paths), compares them by name, so that a
 * new item does not change the items after it. Otherwise compares each list as a whole.
 */
function listItemChanges(field: string, old: readonly Value[], now: readonly Value[]): readonly FieldChange[] {
  const [before, after] = [byName(old), byName(now)];
  if (before === null || after === null) return [{ field, old, new: now }];
  const path = (name: string) => `${field}[${JSON.stringify(name)}]`;
  const names = [...new Set([...after.keys(), ...before.keys()])];
  const items = names.flatMap((name) => changes(path(name), before.get(name) ?? null, after.get(name) ?? null));
  const [kept, moved] = [
    [...before.keys()].filter((name) => after.has(name)),
    [...after.keys()].filter((name) => before.has(name)),
  ];
  const isMoved = kept.some((name, index) => moved[index] !== name);
  return [
    ...items,
    ...(isMoved ? [{ field: `${field} (order)`, old: [...before.keys()], new: [...after.keys()] }] : []),
  ];
}

/**
 * The attributes that can name the items of a list. The comparison uses the first attribute that gives each item a
 * different name.
 */
const NAMES = ["key", "name", "path", "tool"];

function byName(items: readonly Value[]): ReadonlyMap<string, Value> | null {
  for (const attribute of NAMES) {
    const named = new Map(
      items.flatMap((item) => {
        const name = isMap(item) ? own(item, attribute) : null;
        return typeof name === "string" ? [[name, item] as const] : [];
      }),
    );
    if (named.size === items.length) return named;
  }
  return null;
}

/**
 * Whether two values are equal. Texts that differ only in their Unicode normalization are equal, because HCL converts
 * text to NFC.
 */
export function isSame(left: unknown, right: unknown): boolean {
  return left === right || canonicalJson(left).normalize("NFC") === canonicalJson(right).normalize("NFC");
}

function own(map: ValueMap, name: string): Value {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : null;
}

function memberPath(field: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${field}[${JSON.stringify(name)}]`;
  return field === "" ? name : `${field}.${name}`;
}
