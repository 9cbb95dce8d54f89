/**
 * Indexes of titles by their words. A table whose rows have titles has one such index, and writes its entries with the
 * rows. A search reads the index entries of one of the searched words. Each entry has the complete title, in which the
 * search checks the other words. So a search reads no rows.
 */
import type { Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import { type DerivedRows, derivedRows } from "./table-declaration.js";
import { areFound, type SearchedWords, splitWords } from "./words.js";

/** A title, with the data that a search shows for it. */
export interface Titled {
  /** `task`, `line`, `station`, ... */
  readonly kind: string;
  readonly title: string;
  readonly teamId: string | null;
  /** More text whose words also find the title, such as a key or a number; absent for none. */
  readonly also?: string;
  /** The address of a configuration resource; for a station, the address of its line. Absent for other titles. */
  readonly address?: string;
}

/** An index: `[scope, word, id]`. Only callers who see all of a scope may search it. */
export type TitleIndex = Table<Titled>;

/** A row's entry. */
export interface TitleEntry extends Titled {
  readonly id: string;
}

/** The scope of titles that everyone who sees the workspace may see. Every other scope is a team. */
export const EVERYONE = "";

/**
 * Declares that the entries of a title index are derived from rows. `isSame` returns whether two versions of a row have
 * the same entries.
 */
export function titleEntries<Row>(
  index: TitleIndex,
  {
    scope,
    titles,
    isSame,
  }: {
    readonly scope: (row: Row) => string;
    readonly titles: (row: Row) => readonly TitleEntry[];
    readonly isSame: (before: Row, after: Row) => boolean;
  },
): DerivedRows<Row> {
  const derived = derivedRows(index, (row: Row) =>
    titles(row).flatMap(({ id, ...titled }) =>
      listWords(titled).map((word) => [[scope(row), word, id], titled] as const),
    ),
  );
  return { ...derived, isSame };
}

function listWords({ title, also = "" }: Titled): readonly string[] {
  return splitWords(`${title} ${also}`);
}

/** Maximum number of words whose entries a search reads to find the rarest word. */
const MAX_COMPARED = 3;
/** Sorts after every character of a word. */
const LAST = "\u{10FFFF}";

export interface FoundTitles {
  /** The newest first. */
  readonly entries: readonly TitleEntry[];
  /** Whether there may be more: the search ended at its limit. */
  readonly isCut: boolean;
}

/**
 * Finds the titles of a scope that have all the searched words. Reads the entries of one word, and checks the other
 * words in the titles of these entries. If that word has `maxRead` entries or more, also reads the entries of other
 * words, and uses the word with the fewest. Reads at most {@link MAX_COMPARED} words, and at most `maxRead` entries of
 * each.
 */
export function searchTitles(
  index: TitleIndex,
  reading: Reading,
  workspaceId: string,
  { scope, words, maxRead }: { readonly scope: string; readonly words: SearchedWords; readonly maxRead: number },
): FoundTitles {
  let rarest: readonly TitleEntry[] | undefined;
  const { numbers, beginnings } = words;
  const longestFirst = [...beginnings].sort((left, right) => right.length - left.length);
  for (const word of [...numbers, ...longestFirst].slice(0, MAX_COMPARED)) {
    const found = readEntries(index, reading, workspaceId, { scope, word, maxRead });
    if (rarest === undefined || found.length < rarest.length) rarest = found;
    if (rarest.length < maxRead) break;
  }
  const fitting = new Map<string, TitleEntry>();
  for (const entry of rarest ?? []) {
    if (!fitting.has(entry.id) && areFound(words, listWords(entry))) fitting.set(entry.id, entry);
  }
  const entries = [...fitting.values()].sort((left, right) => (left.id > right.id ? -1 : 1));
  return { entries, isCut: (rarest?.length ?? 0) >= maxRead };
}

/**
 * Reads the entries of a word, newest first, then the entries of longer words that start with it. For a number with its
 * `#`, reads no longer words.
 */
function readEntries(
  index: TitleIndex,
  reading: Reading,
  workspaceId: string,
  { scope, word, maxRead }: { readonly scope: string; readonly word: string; readonly maxRead: number },
): readonly TitleEntry[] {
  const exact = index.entries(reading, workspaceId, [scope, word], { reverse: true, limit: maxRead });
  const limit = maxRead - exact.length;
  const longer =
    word.startsWith("#") || limit === 0
      ? []
      : index.entries(reading, workspaceId, [scope], { after: [scope, word], before: [scope, word + LAST], limit });
  return [...exact, ...longer].map(({ key, value }) => ({ ...value, id: String(key.at(-1)) }));
}
