import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { compare, decimal, fraction, multiply, sum } from "../../../../actors/fraction.js";
import { allotBudget, expectCosts } from "../../../../actors/searches/rules/allotments.js";
import { heldOutReplays } from "../../../../actors/searches/rules/budget.js";
import { costed, toSplit } from "./snapshots.js";

const euro = (amount: number) => ({ amount, currency: "EUR" });

t.test(
  "a run whose cost is unknown, nothing or foreign costs the mean of the others; 1 when none is known",
  async (t) => {
    const runs = [costed("a", 1), costed("b", 2), costed("c", null), costed("d", 0)];
    const foreign = { ...costed("e", 9), spent: { amount: 9, currency: "USD" } };
    const { costs, isKnown } = expectCosts([...runs, foreign], "EUR");
    t.same([...costs.values()], [fraction(1), fraction(2), fraction(3, 2), fraction(3, 2), fraction(3, 2)]);
    t.ok(isKnown);
    t.same(expectCosts([foreign], "EUR"), { costs: new Map([[foreign.runId, fraction(1)]]), isKnown: false });
  },
);

t.test("parts are in proportion to what they are expected to cost", async (t) => {
  // The searched tasks cost 1 + 2 + 3 and the held-out tasks 2 + 2, so the mean cost is 2. The seed costs 10, the
  // search replays 6 x 6, the held-out replays 3 x 4, and the agent 2 x 6.
  const split = toSplit([costed("a", 1), costed("b", 2), costed("c", 3)], [costed("d", 2), costed("e", 2)]);
  const budget = { iterations: 2, perIteration: 3, repeats: 1, ceiling: euro(70) };
  t.same(allotBudget(budget, split), {
    seed: euro(10),
    searchReplay: euro(6),
    heldOutReplay: euro(4),
    agentRun: euro(6),
  });
  // Repeats double the copies, but not the agent runs: 20 + 6 x 12 + 3 x 8 + 2 x 6 = 128.
  t.same(allotBudget({ ...budget, repeats: 2, ceiling: euro(128) }, split), {
    seed: euro(20),
    searchReplay: euro(12),
    heldOutReplay: euro(8),
    agentRun: euro(6),
  });
  // Only one candidate can be held out: the total is 10 + 6 + 4 + 6 = 26.
  t.same(allotBudget({ iterations: 1, perIteration: 1, repeats: 1, ceiling: euro(13) }, split), {
    seed: euro(5),
    searchReplay: euro(3),
    heldOutReplay: euro(2),
    agentRun: euro(3),
  });
});

t.test("a part that is worth next to nothing has a billionth all the same", async (t) => {
  const split = toSplit([costed("a", 1e9), costed("b", 1e9), costed("c", 1e9)], [costed("d", 1e-9), costed("e", 1e-9)]);
  const budget = { iterations: 1, perIteration: 1, repeats: 1, ceiling: euro(1) };
  t.same(allotBudget(budget, split).heldOutReplay, euro(1e-9));
});

t.test("all parts together are never above the ceiling, and less by billionths only", async () => {
  const cost = fc.option(fc.double({ min: 0.001, max: 1_000, noNaN: true }));
  const sides = fc.tuple(
    fc.array(cost, { minLength: 3, maxLength: 30 }),
    fc.array(cost, { minLength: 2, maxLength: 20 }),
  );
  const count = (max: number) => fc.integer({ min: 1, max });
  const ceilings = fc.integer({ min: 1, max: 100_000 }).map((cents) => euro(cents / 100));
  fc.assert(
    fc.property(sides, count(10), count(5), count(5), ceilings, (costs, iterations, perIteration, repeats, ceiling) => {
      const [searched, heldOut] = costs.map((side, n) => side.map((each, run) => costed(`${n}-${run}`, each)));
      const budget = { iterations, perIteration, repeats, ceiling };
      const parts = allotBudget(budget, toSplit(searched ?? [], heldOut ?? []));
      const times = [1, iterations * perIteration, heldOutReplays(budget), iterations];
      const amounts = [parts.seed, parts.searchReplay, parts.heldOutReplay, parts.agentRun].map(({ amount }) => amount);
      const all = sum(amounts.map((amount, n) => multiply(decimal(amount), fraction(times[n] ?? 0))));
      assert.ok(compare(all, decimal(ceiling.amount)) <= 0 || amounts.includes(1e-9));
      assert.ok(compare(sum([all, fraction(100, 1e9)]), decimal(ceiling.amount)) >= 0);
    }),
  );
});
