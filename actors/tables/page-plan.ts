import type { KeyPart } from "../../storage/store.js";
import { NONE, type StoredIndex, toPart } from "./declared-index.js";

/** The rows of an index that begin alike. */
export interface IndexPart {
  readonly index: StoredIndex;
  /** Values of the index's first fields. */
  readonly under: readonly KeyPart[];
}

/**
 * How a page is read: the rows of one index that begin with `under` stand in lines, one for each mix of values of the
 * index's other fields, each in the rows' order. A page is merged from the lines that fit. Where there is one line only,
 * a page may be the rows that stand in other indexes too.
 */
export interface PagePlan extends IndexPart {
  /** What the values of the fields after those of `under` have to be; undefined for any. */
  readonly line: readonly (KeyPart | undefined)[];
  /** Single lines of other indexes, which hold the same rows in the same order; empty where `line` is not. */
  readonly also: readonly IndexPart[];
  /** What the index does not tell: looked for in the row. */
  readonly rest: readonly Asked[];
}

/** A field, and what its value has to be. */
type Asked = readonly [field: string, value: KeyPart];

/**
 * The best of the indexes for a filter: it tells most of what is asked, and its lines differ in the fewest fields; of
 * alike ones the first that is declared.
 */
export function planOf(indexes: readonly StoredIndex[], filter: object): PagePlan {
  const asked = new Map<string, KeyPart>();
  for (const [field, value] of Object.entries(filter)) if (value !== undefined) asked.set(field, toPart(value));
  let best: Candidate | null = null;
  for (const index of indexes) {
    const candidate = candidateOf(index, asked);
    if (candidate !== null && (best === null || isBetter(candidate, best))) best = candidate;
  }
  if (best === null) throw new Error("a table without an index for every row");
  return planWith(best.index, asked, indexes);
}

interface Candidate {
  readonly index: StoredIndex;
  /** Fields asked for that it tells. */
  readonly told: number;
  /** Fields that its lines differ in. */
  readonly open: number;
}

function candidateOf(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>): Candidate | null {
  const { by, only, has } = index;
  const holds = only.every(([field, values]) => values.some((value) => value === asked.get(field)));
  if (!holds || !has.every((field) => (asked.get(field) ?? NONE) !== NONE)) return null;
  const told = [...asked.keys()].filter((field) => tells(index, field)).length;
  return { index, told, open: by.filter((field) => !asked.has(field)).length };
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.told === other.told ? one.open < other.open : one.told > other.told;
}

/** How many of the index's first fields are asked for. */
function firstOf({ by }: StoredIndex, asked: ReadonlyMap<string, KeyPart>): number {
  const open = by.findIndex((field) => !asked.has(field));
  return open === -1 ? by.length : open;
}

/** Whether the rows of the index that fit are known to fit in that field. */
function tells({ by, only }: StoredIndex, field: string): boolean {
  return by.includes(field) || only.some(([name, values]) => name === field && values.length === 1);
}

function planWith(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>, indexes: readonly StoredIndex[]): PagePlan {
  const line = index.by.slice(firstOf(index, asked)).map((field) => asked.get(field));
  const rest = [...asked].filter(([field]) => !tells(index, field));
  const lines = line.length > 0 ? [] : indexes.filter((other) => candidateOf(other, asked)?.open === 0);
  return { ...partWith(index, asked), line, also: joined(lines, asked, rest), rest };
}

/** Of single lines those that tell of what is asked besides, the one that tells most of it first. */
function joined(
  lines: readonly StoredIndex[],
  asked: ReadonlyMap<string, KeyPart>,
  untold: readonly Asked[],
): readonly IndexPart[] {
  const tellsOf = (index: StoredIndex) => untold.filter(([field]) => tells(index, field)).length;
  const [best] = [...lines].sort((left, right) => tellsOf(right) - tellsOf(left));
  if (best === undefined || tellsOf(best) === 0) return [];
  const left = untold.filter(([field]) => !tells(best, field));
  return [partWith(best, asked), ...joined(lines, asked, left)];
}

/** The rows of an index with the values that are asked of its first fields. */
function partWith(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>): IndexPart {
  const under = index.by.slice(0, firstOf(index, asked)).flatMap((field) => asked.get(field) ?? []);
  return { index, under };
}
