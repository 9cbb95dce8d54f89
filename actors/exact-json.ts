/**
 * Reads and writes JSON without rounding integers. `JSON.parse` turns every number into a double, which rounds integers
 * beyond 2^53. Identifiers of that size are common, and two different identifiers could be rounded to the same number.
 *
 * 1. An integer that is not safe (`Number.isSafeInteger`) becomes a `bigint`. Any other number becomes a double,
 *   including `1e20`, `1182376459023450171.0` and a fraction with more digits than a double has.
 * 2. Within the limits {@link MAX_DIGITS} and {@link MAX_DEPTH}, everything else works like `JSON.parse` and
 *   `JSON.stringify`, including errors and repeated names.
 * 3. If a text cannot contain an integer beyond 2^53, reading costs one regular expression more than `JSON.parse`.
 */
import { parse, stringify } from "lossless-json";

/**
 * Matches the start of a number that begins with at least 16 digits. May also match similar text within a string. Does
 * not match digits right after a quote, because these belong to a string.
 */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/;
const WHOLE_NUMBER = /^-?\d+$/;
/**
 * Maximum number of digits in an integer. The time to read or write an integer grows faster than its number of digits.
 */
export const MAX_DIGITS = 1_000;
/** Maximum nesting depth of a text that may contain integers beyond 2^53. The parser for such texts is recursive. */
export const MAX_DEPTH = 1_000;

/**
 * Parses a JSON text. Throws a SyntaxError for invalid JSON. If {@link mayRound} is true for the text, two limits also
 * apply: an integer with more than {@link MAX_DIGITS} digits and a nesting deeper than {@link MAX_DEPTH} levels are
 * errors.
 */
export function readJson(text: string): unknown {
  // Call `JSON.parse` first, for its error messages, and because it accepts any depth.
  const value: unknown = JSON.parse(text);
  if (!mayRound(text)) return value;
  if (countValues(text, { most: Number.POSITIVE_INFINITY, maxDepth: MAX_DEPTH }) === null) {
    throw new SyntaxError(`JSON with whole numbers beyond 2^53 nests deeper than ${MAX_DEPTH} levels`);
  }
  return parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/**
 * Returns whether `JSON.parse` may round an integer of the text. The test is quick, and returns true for some texts
 * that have no such integer.
 */
export function mayRound(text: string): boolean {
  return LONG_NUMBER.test(text);
}

function parseNumber(digits: string): number | bigint {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || !WHOLE_NUMBER.test(digits)) return number;
  if (digits.length > MAX_DIGITS) throw new TooManyDigits();
  return BigInt(digits);
}

/** The error for an integer with more than {@link MAX_DIGITS} digits. */
export class TooManyDigits extends SyntaxError {
  override readonly name = "TooManyDigits";

  constructor() {
    super(`a whole number has more than ${MAX_DIGITS} digits`);
  }
}

/**
 * Writes a value as JSON, like `JSON.stringify`, with all digits of each `bigint`.
 *
 * @param space Number of spaces to indent; none by default.
 */
export function writeJson(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space);
  } catch (error) {
    // A TypeError means that the value contains a `bigint`, which `stringify` can write, or that it is circular or
    // nested too deeply. In the latter cases `stringify` throws too.
    if (!(error instanceof TypeError)) throw error;
    return stringify(value, undefined, space) ?? "";
  }
}

const [QUOTE, BACKSLASH, COMMA] = ['"', "\\", ","].map((one) => one.charCodeAt(0));
const [LIST, MAP, LIST_END, MAP_END] = ["[", "{", "]", "}"].map((one) => one.charCodeAt(0));

/**
 * Counts the values of a JSON text approximately. Returns null if there are more than `most`, or if they nest deeper
 * than `maxDepth`. The time grows linearly with the length of the text.
 */
export function countValues(
  text: string,
  { most, maxDepth }: { readonly most: number; readonly maxDepth: number },
): number | null {
  let [values, depth, isText] = [1, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === LIST_END || code === MAP_END) depth -= 1;
    else if (code === COMMA || code === LIST || code === MAP) {
      values += 1;
      if (code !== COMMA) depth += 1;
      if (values > most || depth > maxDepth) return null;
    }
  }
  return values;
}
