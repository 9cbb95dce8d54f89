/** A word, or a number of a pull request or issue with its `#`. */
const WORD = /#\p{Nd}+|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Maximum length of a word in the index, in UTF-16 units. Longer words are cut, when stored and when searched. */
const MAX_WORD = 40;

/**
 * Returns the words of a text, each once: sequences of letters and digits of any script, without differences of case or
 * width. `#12` gives both `#12` and `12`.
 */
export function splitWords(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [word] of foldCase(text).matchAll(WORD)) {
    found.add(cutWord(word));
    if (word.startsWith("#")) found.add(cutWord(word.slice(1)));
  }
  return [...found];
}

/** The words of a text to search for. A text that matches the search has all of them. */
export interface SearchedWords {
  /** Words that match the beginning of a word. */
  readonly beginnings: readonly string[];
  /** Numbers with their `#`, which match only a whole word. */
  readonly numbers: readonly string[];
}

/** Returns the words to search for, each once. */
export function toSearchedWords(text: string): SearchedWords {
  const words = [...new Set([...foldCase(text).matchAll(WORD)].map(([word]) => cutWord(word)))];
  return {
    beginnings: words.filter((word) => !word.startsWith("#")),
    numbers: words.filter((word) => word.startsWith("#")),
  };
}

/** Whether a text with these words matches the search. A search without words matches nothing. */
export function areFound({ beginnings, numbers }: SearchedWords, words: readonly string[]): boolean {
  return (
    beginnings.length + numbers.length > 0 &&
    numbers.every((number) => words.includes(number)) &&
    beginnings.every((beginning) => words.some((word) => word.startsWith(beginning)))
  );
}

/** Folds case and width: `STRASSE` and `straße` become equal, and so do Greek final and other sigmas. */
export function foldCase(text: string): string {
  return [...text.normalize("NFKC").toUpperCase()]
    .map((character) => character.toLowerCase())
    .join("")
    .normalize("NFKC");
}

function cutWord(word: string): string {
  if (word.length <= MAX_WORD) return word;
  // Remove half a surrogate pair at the end, because it is not valid in a key.
  return word.slice(0, MAX_WORD).replace(/[\uD800-\uDBFF]$/, "");
}
