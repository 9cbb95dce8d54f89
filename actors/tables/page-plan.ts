import type { KeyPart } from "../../storage/store.js";
import { NONE, type StoredIndex, toPart } from "./declared-index.js";

/**
 * How a page is read: the rows of one index that begin with `under` stand in lines, one for each mix of values of the
 * index's other fields, each in the rows' order. A page is merged from the lines that fit.
 */
export interface PagePlan {
  readonly index: StoredIndex;
  /** Values of the index's first fields. */
  readonly under: readonly KeyPart[];
  /** What the values of the fields after those have to be; undefined for any. */
  readonly line: readonly (KeyPart | undefined)[];
  /** What the index does not tell: looked for in the row. */
  readonly rest: readonly (readonly [field: string, value: KeyPart])[];
}

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
  return planWith(best.index, asked);
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
  return { index, told, open: by.length - firstOf(index, asked) };
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

function planWith(index: StoredIndex, asked: ReadonlyMap<string, KeyPart>): PagePlan {
  const first = firstOf(index, asked);
  const values = index.by.map((field) => asked.get(field));
  return {
    index,
    under: values.slice(0, first).flatMap((value) => value ?? []),
    line: values.slice(first),
    rest: [...asked].filter(([field]) => !tells(index, field)),
  };
}
