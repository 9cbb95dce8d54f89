/**
 * Exact fractions, for figures and thresholds. {@link toNumber} rounds once, for the response. The code is our own
 * because the fractions of a library accept doubles, and approximate a double by a small fraction nearby: 0.123456789
 * becomes 10/81.
 */
export interface Fraction {
  /** The numerator, which has the fraction's sign. */
  readonly numerator: bigint;
  /** The denominator: positive, without a common factor with the numerator. */
  readonly denominator: bigint;
}

/**
 * Returns `numerator / denominator` in lowest terms. Both must be integers. Throws RangeError if one is not, or if the
 * denominator is 0.
 */
export function fraction(numerator: bigint | number, denominator: bigint | number = 1n): Fraction {
  const above = BigInt(numerator);
  const below = BigInt(denominator);
  if (below === 0n) throw new RangeError("a fraction is not over 0");
  const factor = greatestCommonDivisor(above, below) * (below < 0n ? -1n : 1n);
  return { numerator: above / factor, denominator: below / factor };
}

export const ZERO = fraction(0);

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * Converts a JSON number to the decimal fraction that its text had: 0.05 becomes exactly 1/20. Throws RangeError if
 * `value` is not finite.
 */
export function decimal(value: number): Fraction {
  if (Number.isSafeInteger(value)) return { numerator: BigInt(value), denominator: 1n };
  const [, sign, whole = "", decimals = "", exponent = "0"] = DECIMAL.exec(String(value)) ?? [];
  if (sign === undefined) throw new RangeError(`${value} is not a decimal`);
  const digits = BigInt(`${whole}${decimals}`) * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - decimals.length;
  return power < 0 ? fraction(digits, 10n ** BigInt(-power)) : fraction(digits * 10n ** BigInt(power));
}

/** Writes a fraction as text for a row, such as `3/20` or `2/1`. {@link fromText} reads it. */
export function toText({ numerator, denominator }: Fraction): string {
  return `${numerator}/${denominator}`;
}

/** Reads a text that {@link toText} wrote. */
export function fromText(text: string): Fraction {
  const [numerator = "", denominator = ""] = text.split("/");
  return fraction(BigInt(numerator), BigInt(denominator));
}

export function add(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator);
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator);
}

/** Returns `a / b`. Throws RangeError if `b` is 0. */
export function divide(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator, a.denominator * b.numerator);
}

/** Returns a number below 0 if `a` is less than `b`, 0 if both are equal, and a number above 0 if `a` is greater. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Adds the fractions over one common denominator, and reduces the result once. */
export function sum(fractions: readonly Fraction[]): Fraction {
  let [numerator, denominator] = [0n, 1n];
  for (const each of fractions) {
    const common = leastCommonMultiple(denominator, each.denominator);
    numerator = numerator * (common / denominator) + each.numerator * (common / each.denominator);
    denominator = common;
  }
  return fraction(numerator, denominator);
}

/** Returns the mean of the fractions; null for an empty list. */
export function mean(fractions: readonly Fraction[]): Fraction | null {
  return fractions.length === 0 ? null : divide(sum(fractions), fraction(fractions.length));
}

/** Returns the smallest integer that is not below the fraction. */
export function roundUp({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator > quotient * denominator ? quotient + 1n : quotient;
}

/**
 * Number of bits of the quotient to compute; a double has fewer. One more bit says whether there is a remainder, so
 * that a quotient halfway between two doubles rounds correctly.
 */
const BITS = 64;

/**
 * Returns the double nearest to a fraction. Equal fractions give equal doubles. A decimal fraction gives the double
 * that a JSON parser would return for it. For a fraction closer to 0 than 1e-300, the last digit may be wrong.
 */
export function toNumber({ numerator, denominator }: Fraction): number {
  if (isSafe(numerator) && isSafe(denominator)) return Number(numerator) / Number(denominator);
  const shift = BITS + countBits(denominator) - countBits(numerator);
  const above = shift > 0 ? numerator << BigInt(shift) : numerator;
  const below = shift < 0 ? denominator << BigInt(-shift) : denominator;
  const quotient = above / below;
  const rest = quotient * below === above ? 0n : numerator < 0n ? -1n : 1n;
  // Multiply in two steps: for a fraction near 0, the complete power of 2 would be too small for a double.
  const half = Math.trunc((-shift - 1) / 2);
  return Number(2n * quotient + rest) * 2 ** half * 2 ** (-shift - 1 - half);
}

function countBits(value: bigint): number {
  return (value < 0n ? -value : value).toString(2).length;
}

export function toNumberOrNull(value: Fraction | null): number | null {
  return value === null ? null : toNumber(value);
}

/**
 * Returns whether the integer is in the range in which doubles are exact. The division of two such integers rounds only
 * once.
 */
function isSafe(value: bigint): boolean {
  return BigInt.asIntN(54, value) === value;
}

export function leastCommonMultiple(a: bigint, b: bigint): bigint {
  if (a % b === 0n) return a;
  return (a / greatestCommonDivisor(a, b)) * b;
}

export function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
