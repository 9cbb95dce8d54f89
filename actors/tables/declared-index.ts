import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart } from "../../storage/store.js";

/** Name of a field that an index may contain: its values are text or null. */
export type Field<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | null ? Name : never;
}[keyof Listed] &
  string;

/** Name of a field that rows may be ordered by: its values are text or safe integers. */
export type OrderField<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | number ? Name : never;
}[keyof Listed] &
  string;

/** Values that rows must have, by field; an absent or undefined field matches any value. */
export type Filter<Listed> = { readonly [Name in Field<Listed>]?: Listed[Name] | undefined };

/** The declaration of an index. */
export interface IndexDeclaration<Listed> {
  /** Its fields, in the order of its keys. */
  readonly by: readonly Field<Listed>[];
  /** Contains only rows whose fields have one of these values. */
  readonly only?: { readonly [Name in Field<Listed>]?: readonly string[] };
  /** Contains only rows in which these fields are not null. */
  readonly has?: readonly Field<Listed>[];
  /** Its entries hold the whole row, so that reading a page needs no look-ups. */
  readonly holdsRow?: boolean;
}

/** An index as stored: `[...by, ...order]` -> true, or the row if it `holdsRow`. */
export interface StoredIndex {
  /** Name of its entries in the store. */
  readonly name: string;
  readonly by: readonly string[];
  readonly order: readonly string[];
  readonly only: readonly (readonly [field: string, values: readonly string[]])[];
  readonly has: readonly string[];
  readonly holdsRow: boolean;
}

/** The part of a key that a null value has. It sorts before every text. */
export const NONE = 0;

/** Makes the stored index of a declaration. */
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

/** The key of a row in an index; null when the index does not contain the row. */
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

/** The part of a key for a row's field. */
export function getPart(row: object, field: string): KeyPart {
  return toPart(Reflect.get(row, field));
}

/** The part of a key for a value: text and numbers as they are, {@link NONE} for anything else. */
export function toPart(value: unknown): KeyPart {
  return typeof value === "string" || typeof value === "number" ? value : NONE;
}

export function isSameKey(left: Key, right: Key): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
