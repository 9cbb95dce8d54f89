import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart } from "../../storage/store.js";

/** A field by whose value rows are found: text, or null for none. */
export type Field<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | null ? Name : never;
}[keyof Listed] &
  string;

/** A field that rows are ordered by: text or a safe integer. */
export type OrderField<Listed> = {
  readonly [Name in keyof Listed]-?: Listed[Name] extends string | number ? Name : never;
}[keyof Listed] &
  string;

/** What rows have to be like: each field that is given has that value. */
export type Filter<Listed> = { readonly [Name in Field<Listed>]?: Listed[Name] | undefined };

/** An index, where its fields do not say it all. */
export interface IndexDeclaration<Listed> {
  readonly by: readonly Field<Listed>[];
  /** Only rows whose fields have one of these values. */
  readonly only?: { readonly [Name in Field<Listed>]?: readonly string[] };
  /** Only rows in which these fields are not null. */
  readonly has?: readonly Field<Listed>[];
  /** Its rows hold the whole row, so that a page of it looks up nothing. */
  readonly holdsRow?: boolean;
}

/** An index as it is stored: `[...by, ...order]` -> true, or the row. */
export interface StoredIndex {
  /** Name of its rows. */
  readonly name: string;
  readonly by: readonly string[];
  readonly order: readonly string[];
  readonly only: readonly (readonly [field: string, values: readonly string[]])[];
  readonly has: readonly string[];
  readonly holdsRow: boolean;
}

/** In a key, what no text is: sorts before every text. */
export const NONE = 0;

/** The index of a declaration. */
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

/** The key of a row in an index; null when the index does not hold it. */
export function keyIn(index: StoredIndex, partition: string, row: object): Key | null {
  for (const [field, values] of index.only) {
    const part = partOf(row, field);
    if (typeof part !== "string" || !values.includes(part)) return null;
  }
  for (const field of index.has) if (partOf(row, field) === NONE) return null;
  const key: KeyPart[] = [partition, rowSpace, index.name];
  for (const field of index.by) key.push(partOf(row, field));
  for (const field of index.order) key.push(partOf(row, field));
  return key;
}

/** A field's value as it stands in a key. */
export function partOf(row: object, field: string): KeyPart {
  return toPart(Reflect.get(row, field));
}

/** A value as it stands in a key. */
export function toPart(value: unknown): KeyPart {
  return typeof value === "string" || typeof value === "number" ? value : NONE;
}

export function isSameKey(left: Key, right: Key): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
