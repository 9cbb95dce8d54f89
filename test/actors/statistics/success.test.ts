import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { saturation, successInterval, successTotals } from "../../../actors/statistics/success.js";
import { shuffled, someCopies } from "./arbitrary-copies.js";
import { listCopies, listTasks } from "./copies.js";
import { slowInterval, slowShares, WHOLE } from "./slow-reading.js";

t.test("success is the mean of the tasks' shares of scored copies, with the interval of all resamples", async () => {
  fc.assert(
    fc.property(someCopies, (copies) => {
      const shares = Object.values(slowShares(copies));
      const interval = successInterval(copies);
      if (shares.length === 0) return assert.equal(interval, null);
      const { sum, low, high } = slowInterval(shares);
      const below = shares.length * WHOLE;
      return assert.deepEqual(interval, { rate: sum / below, low: low / below, high: high / below });
    }),
  );
});

t.test("the order of copies does not matter, nor does having each copy twice", async () => {
  fc.assert(
    fc.property(shuffled(someCopies), ([copies, others]) => {
      assert.deepEqual(successTotals(others), successTotals(copies));
      assert.deepEqual(successInterval([...copies, ...copies]), successInterval(copies));
    }),
  );
});

t.test("a task counts once, however many runs and copies of it are scored", async (t) => {
  const copies = listCopies({ "a/1": "++", "a/2": "+--", b: "-", c: "??" });
  t.equal(successInterval(copies)?.rate, 0.3, "3 of 5 of one task, 0 of 1 of another, none of the third");
});

t.test("totals count copies by how they settled", async (t) => {
  t.match(successTotals(listCopies({ a: "+-?.", b: "?.", c: ".", d: "++" })), {
    tasks: 4,
    tasksScored: 2,
    entries: 9,
    settled: 6,
    scored: 4,
    unscored: 2,
    successRate: 0.75,
    interval: { rate: 0.75, low: 0.5, high: 1 },
  });
  t.same(successTotals(listCopies({ a: "?." })), {
    tasks: 1,
    tasksScored: 0,
    entries: 2,
    settled: 1,
    scored: 0,
    unscored: 1,
    successRate: null,
    interval: null,
  });
});

t.test("a set is saturated above 95 %, and not at it", async (t) => {
  t.match(saturation([...listTasks(19, "+"), ...listTasks(1, "-", "f")]), { rate: 0.95, saturated: false });
  t.match(saturation([...listTasks(20, "+"), ...listTasks(1, "-", "f")]), { rate: 20 / 21, saturated: true });
  t.match(saturation(listTasks(3, "+")), { rate: 1, interval: { rate: 1, low: 1, high: 1 }, saturated: true });
  t.equal(saturation(listTasks(3, "?")), null);
});
