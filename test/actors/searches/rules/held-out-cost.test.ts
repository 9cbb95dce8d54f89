import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { fraction } from "../../../../actors/fraction.js";
import { compareHeldOutCosts } from "../../../../actors/searches/rules/held-out-cost.js";

/** Compares costs over tasks. Each pair is the candidate's and the seed's cost of a task, in cents. */
const compare = (...costs: readonly (readonly [own: number, seed: number])[]) =>
  compareHeldOutCosts(costs.map(([own, seed]) => ({ own: fraction(own, 100), seed: fraction(seed, 100) })));

const times = (count: number, own: number, seed: number) =>
  Array.from({ length: count }, () => [own, seed] as [number, number]);

t.test("with six tasks nothing is cheaper beyond chance, with seven all of them have to be", async (t) => {
  t.same(compare(...times(6, 1, 2)), { tasks: 6, chance: 1 / 64, cheaper: false });
  t.same(compare(...times(7, 1, 2)), { tasks: 7, chance: 1 / 128, cheaper: true });
  t.same(compare(...times(6, 1, 2), [2, 1]), { tasks: 7, chance: 8 / 128, cheaper: false });
  t.same(compare(...times(6, 1, 9), [10, 9]), { tasks: 7, chance: 2 / 128, cheaper: false }, "a little dearer once");
});

t.test("a task that costs the same on both sides says nothing", async (t) => {
  t.same(compare(...times(7, 1, 2), [3, 3], [0, 0]), { tasks: 9, chance: 1 / 128, cheaper: true });
  t.same(compare([3, 3]), { tasks: 1, chance: 1, cheaper: false });
  t.equal(compare(), null);
});

t.test("twenty tasks of which sixteen are cheaper by as much as four are dearer are, fifteen are not", async (t) => {
  t.match(compare(...times(16, 1, 2), ...times(4, 2, 1)), { chance: 6_196 / 2 ** 20, cheaper: true });
  t.match(compare(...times(15, 1, 2), ...times(5, 2, 1)), { chance: 21_700 / 2 ** 20, cheaper: false });
});

t.test("fifty tasks are counted exactly", async (t) => {
  t.same(compare(...times(50, 1, 3)), { tasks: 50, chance: 2 ** -50, cheaper: true });
  t.match(compare(...times(50, 3, 1)), { chance: 1, cheaper: false });
});

t.test("the chance is that of swapping the sides of each task in every way", async () => {
  const cost = fc.integer({ min: 0, max: 4 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cost, cost), { minLength: 1, maxLength: 9 }), (costs) => {
      // For costs up to 4, (own - seed) / (own + seed) is a multiple of 1/840, so nothing is rounded.
      const differences = costs.map(([own, seed]) => (own + seed === 0 ? 0 : (840 * (own - seed)) / (own + seed)));
      const observed = differences.reduce((a, b) => a + b, 0);
      let ways = 0;
      for (let signs = 0; signs < 2 ** costs.length; signs++) {
        const sum = differences.reduce((total, each, n) => total + ((signs >> n) & 1 ? each : -each), 0);
        if (sum <= observed) ways += 1;
      }
      const all = 2 ** costs.length;
      assert.deepEqual(compare(...costs), { tasks: costs.length, chance: ways / all, cheaper: 120 * ways <= all });
    }),
  );
});
