/** The end of a page: one row more than the page holds shows whether another page exists. */

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

/** Returns the query with a limit of one row more, for the rows that {@link toListPage} takes. */
export function withOneMore<Query extends Limited>(query: Query): Query {
  return { ...query, limit: query.limit + 1 };
}

/** Returns a page of these rows, which a read {@link withOneMore} found. */
export function toListPage<Row, Cursor extends string = string>(
  found: readonly Row[],
  { limit }: Limited,
  toCursor: (row: Row) => Cursor,
): ListPage<Row, Cursor> {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : toCursor(last) };
}

/** Returns the cursor of a row that its id orders. */
export const byId = ({ id }: { readonly id: string }): string => id;
