/** Most rows of which one start removes, where there are more from an earlier release. */
const REMOVED_AT_ONCE = 50;

interface Wanted<Row> {
  /** Most rows that are stored. */
  readonly most: number;
  /** Rows that are to be written. */
  readonly count: number;
  mayGo(row: Row): boolean;
}

/** The first rows that may go, so that there is room for those to be written; null where too few may. */
export function findLeaving<Row>(rows: readonly Row[], { most, count, mayGo }: Wanted<Row>): readonly Row[] | null {
  const wanted = Math.min(rows.length + count - most, REMOVED_AT_ONCE);
  const leaving: Row[] = [];
  for (const row of rows) {
    if (leaving.length >= wanted) return leaving;
    if (mayGo(row)) leaving.push(row);
  }
  return leaving.length < wanted ? null : leaving;
}
