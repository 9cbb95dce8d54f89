import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { earlierMedian, toPercentiles } from "../../../actors/statistics/percentiles.js";

t.test("percentiles are linear between the nearest two, with their count", async (t) => {
  t.same(toPercentiles([3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20]), {
    p50Ms: 9,
    p75Ms: 14,
    p90Ms: 16,
    p95Ms: 18,
    count: 11,
    few: false,
  });
  t.same(toPercentiles([1_000, 2_000, 4_000, 8_000, 16_000]), {
    p50Ms: 4_000,
    p75Ms: 8_000,
    p90Ms: 12_800,
    p95Ms: 14_400,
    count: 5,
    few: false,
  });
  t.same(toPercentiles([1, 2, 3, 4]), { p50Ms: 2.5, p75Ms: 3.25, p90Ms: 3.7, p95Ms: 3.85, count: 4, few: true });
  t.same(toPercentiles([7]), { p50Ms: 7, p75Ms: 7, p90Ms: 7, p95Ms: 7, count: 1, few: true });
});

t.test("percentiles of nothing are null", async (t) => {
  t.same(toPercentiles([]), { p50Ms: null, p75Ms: null, p90Ms: null, p95Ms: null, count: 0, few: true });
});

t.test("percentiles do not depend on the order, and are those by hundredths of a gap", async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1 }), (times) => {
      const found = toPercentiles(times);
      assert.deepEqual(toPercentiles([...times].reverse()), found);
      // Splits each gap between two neighbouring times into a hundred steps. The percentile of n times is then step
      // number (n - 1) * percent.
      const sorted = [...times].sort((a, b) => a - b);
      const steps = sorted.flatMap((time, at) =>
        Array.from({ length: at + 1 < sorted.length ? 100 : 1 }, (_, step) => {
          const next = sorted[at + 1] ?? time;
          return (time * (100 - step) + next * step) / 100;
        }),
      );
      const at = (percent: number) => steps[(times.length - 1) * percent];
      assert.deepEqual([found.p50Ms, found.p75Ms, found.p90Ms, found.p95Ms], [at(50), at(75), at(90), at(95)]);
    }),
  );
});

t.test("the median of an even count is the earlier of the middle two", async (t) => {
  t.equal(earlierMedian([5, 1, 3]), 3);
  t.equal(earlierMedian([5, 1, 3, 4]), 3);
  t.equal(earlierMedian([10, 9]), 9);
  t.equal(earlierMedian(["2026-03-01T00:00:00Z", "2026-01-01T00:00:00Z"]), "2026-01-01T00:00:00Z");
  t.equal(earlierMedian([]), null);
});
