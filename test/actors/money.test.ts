import fc from "fast-check";
import t from "tap";
import { addDecimals, compareDecimals, multiplyDecimals, toDecimal, toNumber } from "../../actors/decimal.js";
import { addMoney } from "../../actors/money.js";

const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 });

t.test("a number is read as the decimal that it is written as", async (t) => {
  t.same(toDecimal(0.1), { units: 1n, places: 1 });
  t.same(toDecimal(-12.5), { units: -125n, places: 1 });
  t.same(toDecimal(1.5e-7), { units: 15n, places: 8 });
  t.same(toDecimal(2e21), { units: 2n * 10n ** 21n, places: 0 });
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => toDecimal(value));
  fc.assert(fc.property(anyNumber, (value) => toNumber(toDecimal(value)) === value + 0));
});

t.test("sums and comparisons of amounts with up to 6 places are those of whole millionths", async (t) => {
  const millionths = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
  fc.assert(
    fc.property(millionths, millionths, (first, second) => {
      const [left, right] = [toDecimal(first / 1e6), toDecimal(second / 1e6)];
      return (
        toNumber(addDecimals(left, right)) === (first + second) / 1e6 &&
        Math.sign(compareDecimals(left, right)) === Math.sign(first - second)
      );
    }),
  );
  t.equal(toNumber(multiplyDecimals(toDecimal(0.15), toDecimal(1_234))), 185.1);
});

t.test("money adds up without errors of binary fractions, and not across currencies", async (t) => {
  const cent = { amount: 0.1, currency: "USD" };
  const sum = Array.from({ length: 30 }, () => cent).reduce((total, one) => addMoney(total, one) ?? total);
  t.same(sum, { amount: 3, currency: "USD" });
  t.equal(addMoney(cent, { amount: 0.1, currency: "EUR" }), null);
});
