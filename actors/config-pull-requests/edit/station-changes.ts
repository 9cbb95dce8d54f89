import { isDeepStrictEqual } from "node:util";
import { toAttributes, toProperties, toShape } from "../../export/attributes.js";
import { fromAttributes } from "../../export/from-attributes.js";
import type { Entries, HclValue, ObjectValue } from "../../export/hcl.js";
import { type Station, stationSchema } from "../../lines/station.js";
import { canonicalJson } from "../../resources/canonical-json.js";
import type { Json } from "./hcl-values.js";
import { isObject, toJson } from "./value-text.js";

/** A changed value of a station. */
export interface StationChange {
  /** The provider's attribute names, one for each level of nesting: `judge`, `rubric`. */
  readonly path: readonly string[];
  /** The live value; null if the attribute is not set. */
  readonly was: HclValue;
  readonly now: HclValue;
}

/** Formats the path of a change with dots, for example `judge.rubric`. */
export function toName({ path }: Pick<StationChange, "path">): string {
  return path.join(".");
}

type Block = Omit<Station, "id">;

/** The provider's order of a station's attributes. */
export const attributeOrder: readonly string[] = [...toProperties(toShape(stationSchema)).values()].map(
  ({ snake }) => snake,
);

/** Whether the source writes an attribute as an object or as one block, so that its members are edited one by one. */
type WritesMembers = (attribute: string) => boolean;

/**
 * Lists the changes in attribute order. Objects that the source writes out are compared member by member. Lists are
 * compared as a whole.
 */
export function listStationChanges(live: Block, wanted: Block, writesMembers: WritesMembers): readonly StationChange[] {
  return changesBetween({ entries: readAttributes(live) }, { entries: readAttributes(wanted) }, writesMembers);
}

function changesBetween(live: ObjectValue, wanted: ObjectValue, writesMembers: WritesMembers): StationChange[] {
  const names = new Set([...live.entries, ...wanted.entries].map(([name]) => name));
  return [...names].sort(inOrder).flatMap((name) => {
    const [was, now] = [toEntry(live, name), toEntry(wanted, name)];
    if (isDeepStrictEqual(was, now)) return [];
    if (!isObject(was) || !isObject(now) || !writesMembers(name)) return [{ path: [name], was, now }];
    const members = changesBetween(was, now, () => false);
    return members.map((change) => ({ ...change, path: [name, ...change.path] }));
  });
}

/**
 * Compares two names by the provider's order. Names that are not station attributes come first, in their previous
 * order.
 */
function inOrder(left: string, right: string): number {
  return attributeOrder.indexOf(left) - attributeOrder.indexOf(right);
}

function toEntry({ entries }: ObjectValue, wanted: string): HclValue {
  return entries.find(([name]) => name === wanted)?.[1] ?? null;
}

function readAttributes(block: Block): Entries {
  const plain = { at: () => null, hidden: () => null, hiddenPaths: [], omitted: ["id"] };
  return toAttributes(stationSchema, block, plain);
}

/**
 * Whether `written`, the source's value at a path, means the same as the live station's value. If `written` is
 * undefined, the attribute is not written and has its default, as if `written` were null. Two values mean the same if
 * the provider converts them to the same value, or if they are texts that differ only in their Unicode form.
 */
export function meansLive(live: Block, { path, was }: StationChange, written: Json | undefined): boolean {
  return means(live, path, written === undefined ? null : toTypeLike(was, written));
}

/** Whether a value at a path means the same as the station's value there. */
export function means(station: Block, path: readonly string[], written: Json): boolean {
  return findMeaning(station, path, written) === comparable(Reflect.get(station, toField(path)));
}

/**
 * Returns the meaning of a value at a path of the station as canonical text, so that different spellings of one value
 * give equal text. Null if the value is invalid. An omitted attribute that the service fills in means the station's
 * current value.
 */
export function findMeaning(station: Block, path: readonly string[], written: Json): string | null {
  const [field = "", ...below] = path;
  const whole = toJson({ entries: readAttributes(station) });
  const known = isRecord(whole) ? (whole[field] ?? null) : null;
  const attributes = {
    key: station.key,
    name: station.name,
    kind: station.kind,
    [field]: withAt(known, below, written),
  };
  const { fields, faults } = fromAttributes(stationSchema, attributes, { unknown: null, omitted: ["id"] });
  const parsed = stationSchema.safeParse(fields);
  if (faults.length > 0 || !parsed.success) return null;
  const value: unknown = Reflect.get(parsed.data, toField(path));
  return comparable(value === undefined ? Reflect.get(station, toField(path)) : value);
}

/** Returns the station's field for the attribute at the start of a path. */
function toField([attribute]: readonly string[]): string {
  return [...toProperties(toShape(stationSchema))].find(([, { snake }]) => snake === attribute)?.[0] ?? "";
}

function comparable(value: unknown): string {
  return canonicalJson(value).normalize("NFC");
}

function withAt(whole: Json, path: readonly string[], written: Json): Json {
  const [name, ...below] = path;
  if (name === undefined) return written;
  const members = isRecord(whole) ? whole : {};
  return { ...members, [name]: withAt(members[name] ?? null, below, written) };
}

/**
 * Converts `written` to the type of `was` (string, number or boolean), as HCL does. Returns any other value unchanged.
 */
function toTypeLike(was: HclValue, written: Json): Json {
  if (typeof was === "string" && (typeof written === "number" || typeof written === "boolean")) return String(written);
  if (typeof was === "number" && typeof written === "string" && written.trim() !== "") return Number(written);
  if (typeof was === "boolean" && (written === "true" || written === "false")) return written === "true";
  return written;
}

function isRecord(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
