import type { KeyPart } from "../../storage/store.js";
import { NONE, type StoredIndex, toPart } from "./declared-index.js";

/** The entries of an index whose first fields have the same values. */
export interface IndexPart {
  readonly index: StoredIndex;
  /** Values of the first fields. */
  readonly under: readonly KeyPart[];
}

/**
 * The plan for reading a page from one index.
 *
 * The entries of the index that start with `under` form lines: one line for each combination of values of the index's
 * other fields. The entries of a line are in the table's order. A page merges the lines that match the filter.
 *
 * If there is only one line, `also` can name lines of other indexes. The page then has only the rows that are in all of
 * these lines.
 */
export interface PagePlan extends IndexPart {
  /** Required values of the fields after those in `under`; undefined for any value. */
  readonly line: readonly (KeyPart | undefined)[];
  /** Single lines of other indexes whose common rows form the page. Empty unless `line` is empty. */
  readonly also: readonly IndexPart[];
  /** Required values that the indexes do not cover, to check in the row. */
  readonly rest: readonly Asked[];
}

/** A field and its required value. */
type Asked = readonly [field: string, value: KeyPart];

/**
 * Plans a page from the best index for a filter. The best index covers the most fields of the filter. If several
 * indexes cover as many, the one with the fewest other fields is the best, and then the one that was declared first.
 */
export function planPage(indexes: readonly StoredIndex[], filter: object): PagePlan {
  const asked = new Map<string, KeyPart>();
  for (const [field, value] of Object.entries(filter)) if (value !== undefined) asked.set(field, toPart(value));
  let best: Candidate | null = null;
  for (const index of indexes) {
    const candidate = findCandidate(index, asked);
    if (candidate !== null && (best === null || isBetter(candidate, best))) best = candidate;
  }
  if (best === null) throw new Error("a table without an index for every row");
  return planWith(best.index, asked, indexes);
}

interface Candidate {
  readonly index: StoredIndex;
  /** Number of the filter's fields that the index covers. */
  readonly covered: number;
  /** Number of the index's fields that the filter does not set. */
  readonly open: number;
}

function findCandidate(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>): Candidate | null {
  const { by, only, has } = index;
  const holds = only.every(([field, values]) => values.some((value) => value === asked.get(field)));
  if (!holds || !has.every((field) => (asked.get(field) ?? NONE) !== NONE)) return null;
  const covered = [...asked.keys()].filter((field) => covers(index, field)).length;
  return { index, covered, open: by.filter((field) => !asked.has(field)).length };
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.covered === other.covered ? one.open < other.open : one.covered > other.covered;
}

/** Returns the number of the index's first fields that the filter sets. */
function toFirst({ by }: StoredIndex, asked: ReadonlyMap<string, KeyPart>): number {
  const open = by.findIndex((field) => !asked.has(field));
  return open === -1 ? by.length : open;
}

/** Whether the index covers the field, so that its entries need no check in the row. */
function covers({ by, only }: StoredIndex, field: string): boolean {
  return by.includes(field) || only.some(([name, values]) => name === field && values.length === 1);
}

function planWith(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>, indexes: readonly StoredIndex[]): PagePlan {
  const line = index.by.slice(toFirst(index, asked)).map((field) => asked.get(field));
  const rest = [...asked].filter(([field]) => !covers(index, field));
  const lines = line.length > 0 ? [] : indexes.filter((other) => findCandidate(other, asked)?.open === 0);
  return { ...partWith(index, asked), line, also: joined(lines, asked, rest), rest };
}

/**
 * Returns lines of other indexes that cover further fields of the filter, best coverage first. Each of these indexes
 * has only a single line for the filter.
 */
function joined(
  lines: readonly StoredIndex[],
  asked: ReadonlyMap<string, KeyPart>,
  uncovered: readonly Asked[],
): readonly IndexPart[] {
  const toCoverage = (index: StoredIndex) => uncovered.filter(([field]) => covers(index, field)).length;
  const [best] = [...lines].sort((left, right) => toCoverage(right) - toCoverage(left));
  if (best === undefined || toCoverage(best) === 0) return [];
  const left = uncovered.filter(([field]) => !covers(best, field));
  return [partWith(best, asked), ...joined(lines, asked, left)];
}

/** Returns the part of an index whose first fields have the filter's values. */
function partWith(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>): IndexPart {
  const under = index.by.slice(0, toFirst(index, asked)).flatMap((field) => asked.get(field) ?? []);
  return { index, under };
}
