import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import {
  add,
  compare,
  decimal,
  divide,
  fraction,
  fromText,
  mean,
  multiply,
  roundUp,
  subtract,
  sum,
  toNumber,
  toText,
  ZERO,
} from "../../actors/fraction.js";

const anyFraction = fc
  .tuple(fc.bigInt({ min: -1_000n, max: 1_000n }), fc.bigInt({ min: -1_000n, max: 1_000n }))
  .filter(([, below]) => below !== 0n)
  .map(([above, below]) => fraction(above, below));

t.test("a fraction is in lowest terms, its sign above", async (t) => {
  t.same(fraction(6, -8), { numerator: -3n, denominator: 4n });
  t.same(fraction(0, -8), ZERO);
  t.throws(() => fraction(1, 0), RangeError);
  t.throws(() => fraction(0.5), RangeError);
});

t.test("a fraction is read back from its text", async (t) => {
  t.equal(toText(decimal(-0.15)), "-3/20");
  fc.assert(fc.property(anyFraction, (each) => assert.deepEqual(fromText(toText(each)), each)));
  for (const text of ["", "1", "1/0", "a/b"]) t.throws(() => fromText(text), text);
});

t.test("a decimal is the one that was written", async (t) => {
  t.same(decimal(0.05), fraction(1, 20));
  t.same(decimal(-12.5), fraction(-25, 2));
  t.same(decimal(0.123456789), fraction(123_456_789, 1_000_000_000));
  t.same(decimal(1e-7), fraction(1, 10_000_000));
  t.same(decimal(1.5e21), fraction(15n * 10n ** 20n));
  t.same(decimal(0), ZERO);
  t.same(decimal(-0), ZERO);
  t.throws(() => decimal(Number.NaN), RangeError);
  t.throws(() => decimal(Number.POSITIVE_INFINITY), RangeError);
});

t.test("arithmetic keeps the laws of a field, in any order of its terms", async () => {
  fc.assert(
    fc.property(anyFraction, anyFraction, anyFraction, (a, b, c) => {
      assert.deepEqual(add(a, add(b, c)), add(add(c, b), a));
      assert.deepEqual(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)));
      assert.deepEqual(subtract(add(a, b), b), a);
      if (b.numerator !== 0n) assert.deepEqual(multiply(divide(a, b), b), a);
      assert.deepEqual(sum([a, b, c]), sum([c, a, b]));
      assert.equal(compare(a, b) + compare(b, a), 0);
      assert.equal(compare(a, b) < 0, subtract(a, b).numerator < 0n);
    }),
  );
});

t.test("the mean of nothing is null", async (t) => {
  t.equal(mean([]), null);
  t.same(mean([fraction(1), fraction(0), fraction(1)]), fraction(2, 3));
  t.throws(() => divide(fraction(1), ZERO), RangeError);
});

t.test("a fraction is rounded up to a whole number", async (t) => {
  t.same([fraction(4, 2), fraction(5, 2), fraction(-5, 2), ZERO].map(roundUp), [2n, 3n, -2n, 0n]);
});

t.test("each double comes back from its decimal, and from its fraction over a power of two", async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e60, max: 1e60 }), (value) => {
      fc.pre(value === 0 || Math.abs(value) > 1e-300);
      assert.equal(toNumber(decimal(value)), value + 0);
    }),
  );
  t.equal(toNumber(add(decimal(0.1), decimal(0.2))), 0.3);
  for (const value of [5e-324, 1e-305, -1e-305, 1e308]) t.equal(toNumber(decimal(value)), value);
});

/** Returns the exact fraction that a double represents. */
function exactly(value: number): ReturnType<typeof fraction> {
  let [above, below] = [value, 1n];
  for (; !Number.isInteger(above); above *= 2) below *= 2n;
  return fraction(BigInt(above), below);
}

t.test("no other double is nearer to a fraction than its number", async () => {
  const large = fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 70n }), fc.bigInt({ min: 2n ** 53n, max: 2n ** 56n }));
  fc.assert(
    fc.property(large, large, (above, below) => {
      const value = fraction(above, below);
      const found = toNumber(value);
      const distance = (other: number) => {
        const off = subtract(exactly(other), value);
        return off.numerator < 0n ? subtract(ZERO, off) : off;
      };
      for (const other of [found * (1 - 2 ** -53), found * (1 + 2 ** -52)]) {
        assert.ok(other === found || compare(distance(found), distance(other)) <= 0, `${above} / ${below}`);
      }
    }),
    { numRuns: 1_000 },
  );
});

t.test("a large fraction is rounded to the nearest double once", async (t) => {
  const half = 2n ** 53n + 1n;
  t.equal(toNumber(fraction(half)), 2 ** 53, "a tie goes to the even");
  t.equal(toNumber(fraction(half * 10n ** 40n + 1n, 10n ** 40n)), 2 ** 53 + 2, "just above a tie goes up");
  t.equal(toNumber(fraction(half * 10n ** 40n - 1n, 10n ** 40n)), 2 ** 53, "just below goes down");
  t.equal(toNumber(fraction(2n ** 53n + 10n, 2n ** 56n - 8n)), 0.12500000000000017, "by 1e-33 above a tie");
  t.equal(toNumber(fraction(-(2n ** 53n) - 10n, 2n ** 56n - 8n)), -0.12500000000000017);
  t.equal(toNumber(fraction(-(10n ** 30n), 3n * 10n ** 30n)), -1 / 3);
  t.equal(toNumber(fraction(1n, 10n ** 400n)), 0);
});
