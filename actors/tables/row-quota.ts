/** Maximum number of rows that one start removes, if an earlier release left more. */
const REMOVED_AT_ONCE = 50;

interface Wanted<Row> {
  /** Maximum number of stored rows. */
  readonly most: number;
  /** Number of rows to write. */
  readonly count: number;
  mayGo(row: Row): boolean;
}

/**
 * Returns the first removable rows, at most {@link REMOVED_AT_ONCE}, so that the number of rows stays within the
 * maximum after the write. Returns null if too few can be removed.
 */
export function findLeaving<Row>(rows: readonly Row[], { most, count, mayGo }: Wanted<Row>): readonly Row[] | null {
  const wanted = Math.min(rows.length + count - most, REMOVED_AT_ONCE);
  const leaving: Row[] = [];
  for (const row of rows) {
    if (leaving.length >= wanted) return leaving;
    if (mayGo(row)) leaving.push(row);
  }
  return leaving.length < wanted ? null : leaving;
}
