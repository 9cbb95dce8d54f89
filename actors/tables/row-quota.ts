/**
 * Maximum number of rows to remove before one write. If an earlier release left many rows too many, several writes are
 * needed to get down to the quota.
 */
const REMOVED_AT_ONCE = 50;

interface Wanted<Row> {
  /** Maximum number of stored rows. */
  readonly most: number;
  /** Number of rows to write. */
  readonly count: number;
  mayGo(row: Row): boolean;
}

/**
 * Returns the rows to remove before a write, so that the number of rows stays within `most`. These are the first rows
 * that may be removed, at most {@link REMOVED_AT_ONCE}. Returns null if too few rows may be removed.
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
