import t from "tap";
import { drawInterval, drawScale, drawStrip } from "../../../../http/cli/measuring/drawings.js";
import { parseMoney, toCosts, toMoney, toPercent, toPoints, toRange } from "../../../../http/cli/measuring/figures.js";

t.test("amounts are read with their currency, and nothing else is", async (t) => {
  t.same(parseMoney("2USD"), { amount: 2, currency: "USD" });
  t.same(parseMoney(" 0.50 eur"), { amount: 0.5, currency: "EUR" });
  for (const text of ["2", "USD", "-2USD", "2USDX", "2,5USD", "1e3USD", ""]) {
    t.throws(() => parseMoney(text), { message: /It must be an amount with its currency/ }, text);
  }
});

t.test("figures have the digits that matter", async (t) => {
  t.same([0.875, 1, 0, 2 / 3, null].map(toPercent), ["87.5 %", "100 %", "0 %", "66.7 %", "unknown"]);
  t.same([0.375, 0, -0.5, -0.0001].map(toPoints), ["+37.5", "0", "-50", "0"]);
  t.equal(toRange({ low: 0.13, high: 0.75 }), "[13, 75]");
  t.equal(toMoney({ amount: 1 / 30, currency: "USD" }), "0.0333333 USD");
  const usd = { amount: 0.06, currency: "USD" };
  t.equal(toCosts(usd, { amount: 0.04, currency: "USD" }), "0.06 against 0.04 USD per run");
  t.equal(toCosts(usd, { amount: 0.04, currency: "USD" }, "a run"), "0.06 against 0.04 USD a run");
  t.equal(toCosts(usd, null), "0.06 USD against unknown per run");
  t.equal(toCosts(null, null), "unknown cost");
});

t.test("an interval is drawn on its axis with its figure, whatever its width", async (t) => {
  const rates = { from: 0, to: 1, width: 41 };
  const draw = (at: number, low: number, high: number) => drawInterval(rates, at, { low, high });
  t.equal(draw(0.5, 0.25, 0.75), `${"·".repeat(10)}├${"─".repeat(9)}●${"─".repeat(9)}┤${"·".repeat(10)}`);
  t.equal(draw(1, 1, 1), `${"·".repeat(40)}●`);
  t.equal(draw(0, 0, 2), `●${"─".repeat(39)}┤`, "values beyond the axis stay at its end");
  const gains = { from: -1, to: 1, width: 41 };
  t.match(drawInterval(gains, 0.5, { low: 0.25, high: 0.75 }), /^·{20}│·+├─+●─+┤·+$/, "zero is marked");
  for (const axis of [rates, gains]) t.equal(drawScale(axis).length, 41);
  t.equal(drawStrip(["succeeded", "failed", "unscored", null]), "✓✗?·");
});
