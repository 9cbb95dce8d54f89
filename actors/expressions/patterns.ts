import { RE2JS } from "@bufbuild/re2";

/**
 * Maximum length of a regular expression, in characters. Patterns use RE2 syntax, match in linear time, and have a
 * limited compile cost.
 */

const MAX_LENGTH = 500;
/** Maximum size of a pattern with its repetitions expanded, in approximate characters. */
const MAX_GROWN = 5_000;
/** Size of a Unicode class, which needs table lookups in each repetition. */
const UNICODE_CLASS_WEIGHT = 200;
const MAX_CACHED_PATTERNS = 500;
/** Number of instructions that run for one character in about the time of one unit. */
const INSTRUCTIONS_A_UNIT = 4;

export interface Pattern {
  test(text: string): boolean;
  /** Cost of scanning a text, in the meter's units. */
  costFor(text: string): number;
}

const known = new Map<string, Pattern>();

/** Compiles a pattern, with a cache. Throws an `Error` with a message for people if the pattern is invalid. */
export function getPattern(source: string): Pattern {
  const before = known.get(source);
  if (before !== undefined) return before;
  if (source.length > MAX_LENGTH) throw new Error(`a pattern is at most ${MAX_LENGTH} characters`);
  if (grown(source) > MAX_GROWN) throw new Error("the pattern repeats too much");
  const compiled = RE2JS.compile(source);
  const unitsACharacter = 2 + compiled.re2().prog.numInst() / INSTRUCTIONS_A_UNIT;
  const pattern: Pattern = {
    test: (text) => compiled.test(text),
    costFor: (text) => text.length * unitsACharacter,
  };
  if (known.size >= MAX_CACHED_PATTERNS) known.delete(known.keys().next().value ?? "");
  known.set(source, pattern);
  return pattern;
}

/**
 * Cost of compiling a pattern, in the meter's units. A cached pattern costs the same. 0 for a pattern that is too long
 * to compile.
 */
export function costToMake(source: string): number {
  return source.length > MAX_LENGTH ? 0 : 200 + 8 * source.length + Math.min(grown(source), MAX_GROWN);
}

/** An upper bound of the expanded size: it counts every repetition as if it contained the whole pattern. */
function grown(source: string): number {
  const repeats = [...source.matchAll(/\{(\d+)?(?:,(\d+)?)?\}/g)].map(([, from, to]) => Number(to ?? from ?? 1));
  const classes = source.match(/\\[pP]|\(\?[a-z]*i/g)?.length ?? 0;
  return repeats.reduce((size, times) => size * Math.max(1, times), source.length + classes * UNICODE_CLASS_WEIGHT);
}
