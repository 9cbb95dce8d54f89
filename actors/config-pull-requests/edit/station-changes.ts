import { isDeepStrictEqual } from "node:util";
import { propertiesOf, shapeOf, toAttributes } from "../../export/attributes.js";
import { fromAttributes } from "../../export/from-attributes.js";
import type { Entries, HclValue, ObjectValue } from "../../export/hcl.js";
import { type Station, stationSchema } from "../../lines/station.js";
import { canonicalJson } from "../../resources/canonical-json.js";
import type { Json } from "./hcl-values.js";
import { isObject, toJson } from "./value-text.js";

/** A value of a station that is to change. */
export interface StationChange {
  /** Names as the provider has them, of objects within the station one by one: `judge`, `rubric`. */
  readonly path: readonly string[];
  /** Null for an attribute that is not set. */
  readonly was: HclValue;
  readonly now: HclValue;
}

/** `judge.rubric` */
export function nameOf({ path }: Pick<StationChange, "path">): string {
  return path.join(".");
}

type Block = Omit<Station, "id">;

/** A station's attributes have this order. */
export const attributeOrder: readonly string[] = [...propertiesOf(shapeOf(stationSchema)).values()].map(
  ({ snake }) => snake,
);

/** Whether the source writes an attribute as an object: then its members are edited one by one. */
type WritesMembers = (attribute: string) => boolean;

/** What differs, in the order of the attributes: of written objects each member by itself, of lists the whole. */
export function listStationChanges(live: Block, wanted: Block, writesMembers: WritesMembers): readonly StationChange[] {
  return changesBetween({ entries: attributesOf(live) }, { entries: attributesOf(wanted) }, writesMembers);
}

function changesBetween(live: ObjectValue, wanted: ObjectValue, writesMembers: WritesMembers): StationChange[] {
  const names = new Set([...live.entries, ...wanted.entries].map(([name]) => name));
  return [...names].sort(inOrder).flatMap((name) => {
    const [was, now] = [entryOf(live, name), entryOf(wanted, name)];
    if (isDeepStrictEqual(was, now)) return [];
    if (!isObject(was) || !isObject(now) || !writesMembers(name)) return [{ path: [name], was, now }];
    const members = changesBetween(was, now, () => false);
    return members.map((change) => ({ ...change, path: [name, ...change.path] }));
  });
}

/** Names that are none of a station stay as they come. */
function inOrder(left: string, right: string): number {
  return attributeOrder.indexOf(left) - attributeOrder.indexOf(right);
}

function entryOf({ entries }: ObjectValue, wanted: string): HclValue {
  return entries.find(([name]) => name === wanted)?.[1] ?? null;
}

function attributesOf(block: Block): Entries {
  const plain = { at: () => null, hidden: () => null, hiddenPaths: [], omitted: ["id"] };
  return toAttributes(stationSchema, block, plain);
}

/**
 * Whether a source that has `written` at a path means what the live station has there. Undefined is an attribute that
 * is not written: it has its default, as null does. What the provider converts to the same value is the same, and so
 * are texts that differ in their Unicode form alone.
 */
export function meansLive(live: Block, { path, was }: StationChange, written: Json | undefined): boolean {
  return means(live, path, written === undefined ? null : asTypeOf(was, written));
}

/** Whether a value at a path means what the station has there. */
export function means(station: Block, path: readonly string[], written: Json): boolean {
  return meaningOf(station, path, written) === comparable(Reflect.get(station, fieldOf(path)));
}

/**
 * What a value at a path of the station means, as text: equal for what is written in other words. Null for nothing. An
 * omitted attribute that the service fills in means what the station has.
 */
export function meaningOf(station: Block, path: readonly string[], written: Json): string | null {
  const [field = "", ...below] = path;
  const whole = toJson({ entries: attributesOf(station) });
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
  const value: unknown = Reflect.get(parsed.data, fieldOf(path));
  return comparable(value === undefined ? Reflect.get(station, fieldOf(path)) : value);
}

/** The name that the station has for the attribute at the beginning of a path. */
function fieldOf([attribute]: readonly string[]): string {
  return [...propertiesOf(shapeOf(stationSchema))].find(([, { snake }]) => snake === attribute)?.[0] ?? "";
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

/** HCL converts texts to numbers and truth values, and the other way round. */
function asTypeOf(was: HclValue, written: Json): Json {
  if (typeof was === "string" && (typeof written === "number" || typeof written === "boolean")) return String(written);
  if (typeof was === "number" && typeof written === "string" && written.trim() !== "") return Number(written);
  if (typeof was === "boolean" && (written === "true" || written === "false")) return written === "true";
  return written;
}

function isRecord(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
