import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { decimal, fraction, toNumber } from "../../../actors/fraction.js";
import { sumMoney } from "../../../actors/money.js";
import {
  countedSpend,
  countSpending,
  type PricedCopy,
  reachesCeiling,
  unpricedRun,
} from "../../../actors/statistics/spending.js";
import { listCopies } from "./copies.js";

const usd = (amount: number) => ({ amount, currency: "USD" });
const eur = (amount: number) => ({ amount, currency: "EUR" });

function copies(results: string, ...costs: (Partial<PricedCopy> | number)[]): readonly PricedCopy[] {
  return listCopies({ a: results }).map((copy, index) => {
    const cost = costs[index] ?? {};
    return { ...copy, ...(typeof cost === "number" ? { spent: usd(cost) } : cost) };
  });
}

t.test("amounts add up as decimals, in any order", async (t) => {
  t.equal(
    toNumber(
      sumMoney(
        Array.from({ length: 10 }, () => usd(0.1)),
        "USD",
      ),
    ),
    1,
  );
  t.same(sumMoney([usd(0.1), eur(5), usd(0.2)], "USD"), decimal(0.3));
  const cents = fc.array(fc.integer({ min: 0, max: 1_000_000 }));
  fc.assert(
    fc.property(cents, (amounts) => {
      const parts = amounts.map((amount) => usd(amount / 1_000));
      const wanted = amounts.reduce((a, b) => a + b, 0) / 1_000;
      assert.equal(toNumber(sumMoney(parts, "USD")), wanted);
      assert.equal(toNumber(sumMoney([...parts].reverse(), "USD")), wanted);
    }),
  );
});

t.test("a replay spent what its copies reported, and per run by its scored copies", async (t) => {
  t.same(countSpending(copies("+-?.", 0.1, 0.2, 0.3), "USD"), { spent: usd(0.6), costPerRun: usd(0.3) });
  t.same(countSpending(copies("+++", 0.1, 0.1, 0.1), "USD"), { spent: usd(0.3), costPerRun: usd(0.1) });
  t.same(countSpending([], "USD"), { spent: usd(0), costPerRun: null });
});

t.test("the cost per run is null while any copy is unpriced or foreign, and while none is scored", async (t) => {
  t.same(countSpending(copies("++", 0.1, { spent: usd(0.2), priced: false }), "USD"), {
    spent: usd(0.3),
    costPerRun: null,
  });
  t.same(countSpending(copies("++", 0.1, { spent: eur(0.2) }), "USD"), { spent: usd(0.1), costPerRun: null });
  t.same(countSpending(copies("+?", 0.1, { priced: false }), "USD").costPerRun, null);
  t.same(countSpending(copies("?.", 0.1), "USD"), { spent: usd(0.1), costPerRun: null });
  t.same(countSpending(copies("+?", 0.1, {}), "USD").costPerRun, usd(0.1), "a copy that never began cost nothing");
});

t.test("an unpriced copy counts the ceiling's share of it once more, exactly", async (t) => {
  const of = { ceiling: usd(10), runs: 3, repeats: 1 };
  t.same(unpricedRun(of), fraction(10, 3));
  t.same(countedSpend(copies("++", 0.1, { priced: false }), of), fraction(103, 30));
  t.same(countedSpend(copies("++", 0.1, { spent: usd(0.2), priced: false }), of), fraction(109, 30));
  t.same(countedSpend(copies("+", { spent: eur(4) }), of), fraction(10, 3));
  t.same(countedSpend(copies(".?"), of), fraction(0), "what never began counts nothing");
  t.same(countedSpend(copies("+", 0.1), of, [usd(0.2), usd(0.3)]), fraction(6, 10));
});

t.test("a replay of unpriced copies alone reaches its ceiling with the last, not before", async (t) => {
  for (const [runs, repeats] of [
    [3, 1],
    [7, 3],
    [50, 5],
  ] as const) {
    const of = { ceiling: usd(0.7), runs, repeats };
    const all = Array.from({ length: runs * repeats }, () => copies("+", { priced: false })).flat();
    t.ok(reachesCeiling(countedSpend(all, of), of.ceiling));
    t.notOk(reachesCeiling(countedSpend(all.slice(1), of), of.ceiling));
  }
  t.ok(reachesCeiling(sumMoney([usd(0.1), usd(0.7)], "USD"), usd(0.8)), "0.1 + 0.7 is less than 0.8 in doubles");
});
