import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart } from "../../storage/store.js";

/** Name of a field that an index may contain. Its values are text or null. */
export type Field<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | null ? Name : never;
}[keyof Listed] &
  string;

/** Name of a field that may order rows. Its values are text or safe integers. */
export type OrderField<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | number ? Name : never;
}[keyof Listed] &
  string;

/** Required values by field. An absent or undefined field matches any value. */
export type Filter<Listed> = { readonly [Name in Field<Listed>]?: Listed[Name] | undefined };

/** The declaration of an index. */
export interface IndexDeclaration<Listed> {
  /** The fields of the index, in key order. */
  readonly by: readonly Field<Listed>[];
  /** Limits the index to rows whose fields have one of these values. */
  readonly only?: { readonly [Name in Field<Listed>]?: readonly string[] };
  /** Limits the index to rows in which these fields are not null. */
  readonly has?: readonly Field<Listed>[];
  /** Whether entries hold the whole row, so that a page needs no look-ups. */
  readonly holdsRow?: boolean;
}

/** An index as stored: `[...by, ...order]` -> true, or the row with `holdsRow`. */
export interface StoredIndex {
  /** Name of the index's entries in the store. */
  readonly name: string;
  readonly by: readonly string[];
  readonly order: readonly string[];
  readonly only: readonly (readonly [field: string, values: readonly string[]])[];
  readonly has: readonly string[];
  readonly holdsRow: boolean;
}

/** The key part of a null value. It sorts before every text. */
export const NONE = 0;

/** Converts a declaration to the stored index. */
export function storedIndex<Listed>(
  name: string,
  { by, only = {}, has = [], holdsRow = false }: IndexDeclaration<Listed>,
  order: readonly string[],
): StoredIndex {
  const limits = Object.entries<readonly string[] | undefined>(only).flatMap(([field, values]) =>
    values === undefined ? [] : [[field, values] as const],
  );
  return { name, by, order, only: limits, has, holdsRow };
}

/** Returns the key of a row in an index; null if the index does not contain the row. */
export function keyIn(index: StoredIndex, partition: string, row: object): Key | null {
  for (const [field, values] of index.only) {
    const part = getPart(row, field);
    if (typeof part !== "string" || !values.includes(part)) return null;
  }
  for (const field of index.has) if (getPart(row, field) === NONE) return null;
  const key: KeyPart[] = [partition, rowSpace, index.name];
  for (const field of index.by) key.push(getPart(row, field));
  for (const field of index.order) key.push(getPart(row, field));
  return key;
}

/** Returns the key part of a row's field. */
export function getPart(row: object, field: string): KeyPart {
  return toPart(Reflect.get(row, field));
}

/** Converts a value to a key part: text and numbers unchanged, {@link NONE} for anything else. */
export function toPart(value: unknown): KeyPart {
  return typeof value === "string" || typeof value === "number" ? value : NONE;
}

export function isSameKey(left: Key, right: Key): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
