/**
 * Pages of lists. Each read asks for one row more than the page holds. If it returns this additional row, the list
 * continues.
 */
import { isDamage } from "../../storage/store.js";

interface Limited {
  /** The largest number of rows in the page. */
  readonly limit: number;
}

/** A page of a list. */
export interface ListPage<Row, Cursor extends string = string> {
  /** At most as many rows as the limit. */
  readonly rows: readonly Row[];
  /** The cursor of the last row if the list continues after it; null at the end of the list. */
  readonly next: Cursor | null;
}

/**
 * Reads a page. `read` lists the rows of a query. The function first asks `read` for one row more than the page holds.
 * If a damaged row makes this read fail, it asks only for the rows of the page. So a damaged row after the page does
 * not hide the page.
 */
export function readListPage<Row, Query extends Limited, Cursor extends string = string>(
  query: Query,
  read: (query: Query) => readonly Row[],
  toCursor: (row: Row) => Cursor,
): ListPage<Row, Cursor> {
  try {
    return toListPage(read(withOneMore(query)), query, toCursor);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return toPageBeforeDamage(read(query), toCursor);
  }
}

/** Reads a page like {@link readListPage}, from rows that are read in slices. */
export async function readListPageInSlices<Row, Query extends Limited, Cursor extends string = string>(
  query: Query,
  read: (query: Query) => Promise<readonly Row[]>,
  toCursor: (row: Row) => Cursor,
): Promise<ListPage<Row, Cursor>> {
  try {
    return toListPage(await read(withOneMore(query)), query, toCursor);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return toPageBeforeDamage(await read(query), toCursor);
  }
}

function withOneMore<Query extends Limited>(query: Query): Query {
  return { ...query, limit: query.limit + 1 };
}

/** Returns the page that starts `found`. If the list continues, `found` has one row more than the page holds. */
export function toListPage<Row, Cursor extends string>(
  found: readonly Row[],
  { limit }: Limited,
  toCursor: (row: Row) => Cursor,
): ListPage<Row, Cursor> {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : toCursor(last) };
}

function toPageBeforeDamage<Row, Cursor extends string>(
  rows: readonly Row[],
  toCursor: (row: Row) => Cursor,
): ListPage<Row, Cursor> {
  const last = rows.at(-1);
  return { rows, next: last === undefined ? null : toCursor(last) };
}

/** Returns the cursor of a row in a list that is ordered by id. */
export const byId = ({ id }: { readonly id: string }): string => id;
