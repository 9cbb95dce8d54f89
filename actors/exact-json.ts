/**
 * Reads and writes JSON without rounding whole numbers. `JSON.parse` turns every number into a double, which rounds whole
 * numbers beyond 2^53: identifiers of that size are common, and two of them become one.
 *
 * 1. A whole number beyond 2^53 is a `bigint`. Any other number is a double: also `1e20`, `1182376459023450171.0` and a
 *    fraction with more digits than a double has.
 * 2. Everything else is as with `JSON.parse` and `JSON.stringify`, including the errors and repeated names.
 * 3. Text without a candidate for such a number costs one regular expression more than `JSON.parse`.
 */
import { parse, stringify } from "lossless-json";

/** Where a number of 16 digits begins, or what looks like one within a text. Digits after a quote are a text's own. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/;
const WHOLE_NUMBER = /^-?\d+$/;
/** Most digits of a whole number: what takes longer than linear time to read or write stays short. */
export const MAX_DIGITS = 1_000;
/** Deepest nesting of a text with such numbers: their parser is recursive. */
export const MAX_DEPTH = 1_000;

/**
 * The value of a JSON text. Throws a SyntaxError for text that is no JSON, and for a text that has long whole numbers and
 * one of more than {@link MAX_DIGITS} digits, or nests deeper than {@link MAX_DEPTH} levels.
 */
export function readJson(text: string): unknown {
  // First, for its errors, and since it takes any depth.
  const value: unknown = JSON.parse(text);
  if (!mayRound(text)) return value;
  if (countValues(text, { most: Number.POSITIVE_INFINITY, maxDepth: MAX_DEPTH }) === null) {
    throw new SyntaxError(`JSON with whole numbers beyond 2^53 nests deeper than ${MAX_DEPTH} levels`);
  }
  return parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** Whether `JSON.parse` may round a whole number of the text: a quick look, that some texts pass without need. */
export function mayRound(text: string): boolean {
  return LONG_NUMBER.test(text);
}

function parseNumber(digits: string): number | bigint {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || !WHOLE_NUMBER.test(digits)) return number;
  if (digits.length > MAX_DIGITS) throw new TooManyDigits();
  return BigInt(digits);
}

/** A whole number has more than {@link MAX_DIGITS} digits. */
export class TooManyDigits extends SyntaxError {
  override readonly name = "TooManyDigits";

  constructor() {
    super(`a whole number has more than ${MAX_DIGITS} digits`);
  }
}

/**
 * The JSON text of a value, as `JSON.stringify` writes it, with the digits of each `bigint`.
 *
 * @param space Blanks of an indentation; none by default.
 */
export function writeJson(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space);
  } catch (error) {
    // A `bigint` throws. So does what nests too deep or in a circle, here too.
    if (!(error instanceof TypeError)) throw error;
    return stringify(value, undefined, space) ?? "";
  }
}

const [QUOTE, BACKSLASH, COMMA] = ['"', "\\", ","].map((one) => one.charCodeAt(0));
const [LIST, MAP, LIST_END, MAP_END] = ["[", "{", "]", "}"].map((one) => one.charCodeAt(0));

/** The values of a JSON text, about; null for more than `most`, or deeper ones. Linear, and quick for any text. */
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
