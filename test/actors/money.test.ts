import t from "tap";
import { compare, decimal, fraction, ZERO } from "../../actors/fraction.js";
import { addMoney, amountIn, boundAmount, boundMoney, MAX_AMOUNT, sumMoney, toAmount } from "../../actors/money.js";

t.test("money adds up without errors of binary fractions, and not across currencies", async (t) => {
  const cent = { amount: 0.1, currency: "USD" };
  const sum = Array.from({ length: 30 }, () => cent).reduce((total, one) => addMoney(total, one) ?? total);
  t.same(sum, { amount: 3, currency: "USD" });
  t.equal(addMoney(cent, { amount: 0.1, currency: "EUR" }), null);
});

const huge = [MAX_AMOUNT + 1, 1e308, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN];

t.test("an amount is bounded; what a row has as no number any more is the most", async (t) => {
  for (const amount of huge) t.equal(boundAmount(amount), MAX_AMOUNT, String(amount));
  const stored: { amount: number; currency: string } = JSON.parse(`{"amount":null,"currency":"USD"}`);
  t.same(boundMoney(stored), { amount: MAX_AMOUNT, currency: "USD" });
  for (const amount of [0, -1, 5e-324, 1e-305, 9.9e-10]) t.equal(boundAmount(amount), 0, String(amount));
  for (const amount of [1e-9, 0.1, 1, MAX_AMOUNT]) t.equal(boundAmount(amount), amount, String(amount));
  t.equal(boundMoney(null), null);
});

t.test("a sum ends at the most that an amount is, whatever its parts are", async (t) => {
  for (const amount of huge) {
    const money = { amount, currency: "USD" };
    t.same(addMoney(money, money), { amount: MAX_AMOUNT, currency: "USD" }, String(amount));
    t.equal(compare(amountIn(money, "USD"), decimal(MAX_AMOUNT)), 0);
    t.equal(compare(amountIn(money, "EUR"), ZERO), 0);
    t.equal(toAmount(sumMoney([money, money], "USD")), MAX_AMOUNT);
  }
  t.equal(toAmount(fraction(10n ** 400n)), MAX_AMOUNT);
  t.equal(compare(amountIn(null, "USD"), ZERO), 0);
});
