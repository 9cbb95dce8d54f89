import {
  type CelEnv,
  type CelFunc,
  type CelList,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMethod,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  listType,
  mapType,
  objectType,
} from "@bufbuild/cel";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { RE2JS } from "@bufbuild/re2";
import { LRUCache } from "lru-cache";
import type { Meter } from "./meter.js";
import { mixedNumbers } from "./mixed-numbers.js";
import { APPEND, DISTINCT, GOES_ON, HAS, NEW_LIST, RANGE } from "./program.js";
import { standard } from "./signatures.js";

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);
const TIMESTAMP = objectType("google.protobuf.Timestamp");

/** The range of a timestamp, in seconds since 1970: 0001-01-01 to 9999-12-31. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;
/** Functions whose cost depends on every element of their arguments. */
const looksAtAll = new Set(["_==_", "_!=_", "@in"]);

/** The cost of a call in units, for functions that cost more than 1. */
const weights: ReadonlyMap<string, number> = new Map([
  ["timestamp", 50],
  ["duration", 50],
  ["string", 10],
  ...[...standard.functions.keys()].filter((name) => name.startsWith("get")).map((name) => [name, 400] as const),
]);
/**
 * The additional cost of a call that fails. Errors are expensive to create, and an expression may cause an error at
 * every step and still continue.
 */
const ERROR_WEIGHT = 200;
/** Number of elements that a loop copies in the time of one unit. */
const ELEMENTS_A_UNIT = 4;
const TOO_EXPENSIVE = "it takes too long";

/**
 * The environment of the standard functions. The meter counts each call. Our own functions replace library functions
 * that differ from cel-spec, for example `has` and `in` with null values, `timestamp(int)` and `double("abc")`.
 */
export function meteredEnvironment(meter: Meter): CelEnv {
  const standard = celEnv({
    funcs: [
      ...loops(meter),
      ...presence,
      ...written,
      ...conversions,
      ...growing(meter),
      ...matching(meter),
      ...mixedNumbers,
    ],
  });
  const find = (name: string) => {
    const group = standard.funcs.find(name);
    if (group === undefined) return undefined;
    const all = looksAtAll.has(name);
    const weight = weights.get(name) ?? 1;
    const count = (value: CelValue) => (all ? meter.spendForAll(value) : meter.spendFor(value));
    return {
      call(id: number, target: CelValue | undefined, args: CelValue[]) {
        meter.spend(weight);
        if (target !== undefined) count(target);
        for (const arg of args) count(arg);
        // Throw outside the called function, so that no expression can catch the error.
        if (meter.isSpent) throw new Error(TOO_EXPENSIVE);
        const result = group.call(id, target, args);
        if (isCelError(result)) meter.spend(ERROR_WEIGHT);
        return result;
      },
    };
  };
  return Object.create(standard, { funcs: { value: { find } } });
}

/**
 * The functions that compiled loops call. A loop appends to its result list in place, because nothing else refers to
 * this list.
 */
function loops(meter: Meter): CelFunc[] {
  const filling = new WeakMap<CelList, CelValue[]>();
  return [
    celFunc(GOES_ON, [INT], BOOL, (weight) => {
      meter.spend(Number(weight));
      return true;
    }),
    // Charge for all elements of the range. The library copies all of them before the first step, even if the loop then
    // ends.
    celFunc(RANGE, [DYN], DYN, (range) => {
      if (isCelList(range) || isCelMap(range)) meter.spend(range.size / ELEMENTS_A_UNIT);
      if (meter.isSpent) throw new Error(TOO_EXPENSIVE);
      return range;
    }),
    celFunc(NEW_LIST, [], LIST, () => {
      const elements: CelValue[] = [];
      const list = celList(elements);
      filling.set(list, elements);
      return list;
    }),
    celFunc(APPEND, [LIST, DYN], LIST, (list, element) => {
      filling.get(list)?.push(element);
      return list;
    }),
  ];
}

const presence: readonly CelFunc[] = [
  celFunc(HAS, [DYN, STRING], BOOL, (value, field) => {
    if (isCelMap(value)) return value.get(field) !== undefined;
    throw new Error("has() requires a field of a map");
  }),
  ...[STRING, DOUBLE, INT, BOOL, UINT].map((key) =>
    celFunc("@in", [key, MAP], BOOL, (name, map) => map.get(name) !== undefined),
  ),
];

/** Rejects map literals with duplicate keys. */
const written: readonly CelFunc[] = [
  celFunc(DISTINCT, [MAP], MAP, (map) => {
    const keys = new Set<unknown>();
    for (const key of map.keys()) {
      const number = isCelUint(key) ? key.value : key;
      if (keys.has(number)) throw new Error(`a map has the key ${String(number)} twice`);
      keys.add(number);
    }
    return map;
  }),
];

const INTEGER = /^[+-]?\d{1,20}$/;
const NUMBER = /^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|Infinity|inf|NaN)$/;

const conversions: readonly CelFunc[] = [
  celFunc("timestamp", [INT], TIMESTAMP, (seconds) => {
    if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new Error("a timestamp must be in the years 1 to 9999");
    return create(TimestampSchema, { seconds });
  }),
  celFunc("double", [STRING], DOUBLE, (text) => {
    if (!NUMBER.test(text)) throw new Error("the text is not a number");
    return Number(text.replace(/inf$/, "Infinity"));
  }),
  celFunc("int", [STRING], INT, (text) => {
    const value = INTEGER.test(text) ? BigInt(text.replace(/^\+/, "")) : null;
    if (value === null || value !== BigInt.asIntN(64, value)) throw new Error("the text is not an int");
    return value;
  }),
  celFunc("uint", [STRING], UINT, (text) => {
    const value = /^\d{1,20}$/.test(text) ? BigInt(text) : null;
    if (value === null || value !== BigInt.asUintN(64, value)) throw new Error("the text is not a uint");
    return celUint(value);
  }),
];

/**
 * Functions whose result may double at every step. Each function charges for the size of its result before it builds
 * the result.
 */
function growing(meter: Meter): CelFunc[] {
  return [
    celFunc("_+_", [LIST, LIST], LIST, (left, right) => {
      meter.spend(left.size + right.size);
      if (meter.isSpent) throw new Error(TOO_EXPENSIVE);
      return celList([...left, ...right]);
    }),
  ];
}

function matching(meter: Meter): CelFunc[] {
  const matches = (text: string, source: string): boolean => {
    if (meter.isNew(source)) meter.spend(costToMake(source));
    if (meter.isSpent) throw new Error(TOO_EXPENSIVE);
    const pattern = getPattern(source);
    meter.spend(pattern.costFor(text));
    if (meter.isSpent) throw new Error(TOO_EXPENSIVE);
    return pattern.test(text);
  };
  return [
    celFunc("matches", [STRING, STRING], BOOL, matches),
    celMethod("matches", STRING, [STRING], BOOL, function (source) {
      return matches(this, source);
    }),
  ];
}

/**
 * Maximum length of a regular expression, in characters. This limits the cost of compiling the expression. RE2 syntax
 * ensures that matching takes linear time.
 */
const MAX_LENGTH = 500;
/** Maximum size of a pattern with its repetitions expanded, in approximate characters. */
const MAX_GROWN = 5_000;
/** Size to count for each Unicode class and each `i` flag. Both need table lookups wherever they are repeated. */
const UNICODE_CLASS_WEIGHT = 200;
const MAX_CACHED_PATTERNS = 500;
/** Number of regular expression instructions that may run on one character for one unit. */
const INSTRUCTIONS_A_UNIT = 4;

interface Pattern {
  test(text: string): boolean;
  /** Cost of scanning a text, in the meter's units. */
  costFor(text: string): number;
}

const known = new LRUCache<string, Pattern>({ max: MAX_CACHED_PATTERNS });

/** Compiles a pattern, with a cache. Throws an `Error` with a message for people if the pattern is invalid. */
function getPattern(source: string): Pattern {
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
  known.set(source, pattern);
  return pattern;
}

/**
 * Returns the cost of compiling a pattern, in the meter's units. A cached pattern costs the same. A pattern that is too
 * long to compile costs 0.
 */
function costToMake(source: string): number {
  return source.length > MAX_LENGTH ? 0 : 200 + 8 * source.length + Math.min(grown(source), MAX_GROWN);
}

/**
 * Returns an upper bound of the pattern's size with all repetitions expanded. The bound counts each repetition as if it
 * repeated the complete pattern.
 */
function grown(source: string): number {
  const repeats = [...source.matchAll(/\{(\d+)?(?:,(\d+)?)?\}/g)].map(([, from, to]) => Number(to ?? from ?? 1));
  const classes = source.match(/\\[pP]|\(\?[a-z]*i/g)?.length ?? 0;
  return repeats.reduce((size, times) => size * Math.max(1, times), source.length + classes * UNICODE_CLASS_WEIGHT);
}
