import { type CelFunc, CelScalar, type CelUint, celFunc, isCelUint } from "@bufbuild/cel";
import { toWholeNumber } from "./values.js";

const { DOUBLE, DYN, INT, UINT } = CelScalar;

type Numeric = bigint | number | CelUint;

/** An operator on integers and the same operator on doubles. `whole` returns null if the result is not an integer. */
interface Operator {
  readonly whole: (left: bigint, right: bigint) => bigint | null;
  readonly double: (left: number, right: number) => number;
}

const operators: Readonly<Record<string, Operator>> = {
  "_+_": { whole: (left, right) => left + right, double: (left, right) => left + right },
  "_-_": { whole: (left, right) => left - right, double: (left, right) => left - right },
  "_*_": { whole: (left, right) => left * right, double: (left, right) => left * right },
  "_/_": {
    whole: (left, right) => (left % notZero(right) === 0n ? left / right : null),
    double: (left, right) => left / right,
  },
  "_%_": {
    whole: (left, right) => left % notZero(right),
    double: () => {
      throw new Error("% requires whole numbers");
    },
  },
};

/**
 * Arithmetic on two numbers of different types, which cel-spec does not define. A JSON number is a double or, beyond
 * 2^53, an `int` or a `uint`. So the types in `body.id + body.offset` depend on the received values.
 *
 * - If both numbers and the result are integers, the result is exact. It is an error if the result does not fit in 64
 *   bits.
 * - Otherwise the result is a double, except that `%` is an error.
 *
 * The checker rejects mixed arithmetic if it knows both types.
 */
export const mixedNumbers: readonly CelFunc[] = Object.entries(operators).flatMap(([name, operator]) => {
  const apply = (left: Numeric, right: Numeric) => {
    const [above, below] = [toWhole(left), toWhole(right)];
    const whole = above === null || below === null ? null : operator.whole(above, below);
    if (whole === null) return operator.double(toDouble(left), toDouble(right));
    const fitting = toWholeNumber(whole);
    if (fitting === null) throw new Error("the result does not fit in 64 bits");
    return fitting;
  };
  return [
    celFunc(name, [INT, DOUBLE], DYN, apply),
    celFunc(name, [DOUBLE, INT], DYN, apply),
    celFunc(name, [UINT, DOUBLE], DYN, apply),
    celFunc(name, [DOUBLE, UINT], DYN, apply),
    celFunc(name, [INT, UINT], DYN, apply),
    celFunc(name, [UINT, INT], DYN, apply),
  ];
});

function notZero(divisor: bigint): bigint {
  if (divisor === 0n) throw new Error("division by 0");
  return divisor;
}

/** Returns the exact integer. Returns null for a double that is not an integer, or that may have been rounded. */
function toWhole(number: Numeric): bigint | null {
  if (typeof number === "bigint") return number;
  if (isCelUint(number)) return number.value;
  return Number.isSafeInteger(number) ? BigInt(number) : null;
}

function toDouble(number: Numeric): number {
  return Number(isCelUint(number) ? number.value : number);
}
