import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { type Fraction, fraction, subtract, toNumber, ZERO } from "../../../actors/fraction.js";
import { bootstrapMean } from "../../../actors/statistics/interval.js";
import { boundedQuantiles, countedQuantiles, resampledSumQuantiles } from "../../../actors/statistics/resampled-sum.js";
import { createChance } from "../../simulation/chance.js";
import { slowInterval, WHOLE } from "./slow-reading.js";

const tails = { low: fraction(1, 40), high: fraction(39, 40) };

/** A share, or the difference of two shares, of up to five copies. */
const value = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -5, max: 5 }))
  .map(([copies, succeeded]) => fraction(Math.max(-copies, Math.min(copies, succeeded)), copies));

const inWhole = ({ numerator, denominator }: Fraction): number => Number((numerator * BigInt(WHOLE)) / denominator);

t.test("the interval is that of all resamples, enumerated", async () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
      const { low, high } = slowInterval(values.map(inWhole));
      const below = values.length * WHOLE;
      assert.deepEqual(bootstrapMean(values), { low: fraction(low, below), high: fraction(high, below) });
    }),
    { numRuns: 150 },
  );
});

t.test("an interval of nothing is null, of one task a point, of equal tasks too", async (t) => {
  t.equal(bootstrapMean([]), null);
  t.same(bootstrapMean([fraction(2, 3)]), { low: fraction(2, 3), high: fraction(2, 3) });
  const equal = Array.from({ length: 50 }, () => fraction(3, 5));
  t.same(bootstrapMean(equal), { low: fraction(3, 5), high: fraction(3, 5) });
});

t.test("of 20 tasks of which 19 succeed, the interval is the binomial's", async (t) => {
  const values = Array.from({ length: 20 }, (_, n) => fraction(n === 0 ? 0 : 1));
  t.same(bootstrapMean(values), { low: fraction(17, 20), high: fraction(1) });
});

t.test("the order of tasks does not matter, and what mirrors the values mirrors the interval", async () => {
  const sample = fc.array(value, { minLength: 1, maxLength: 19 }).filter(({ length }) => length % 10 !== 0);
  fc.assert(
    fc.property(sample, (values) => {
      const bounds = bootstrapMean(values);
      assert.deepEqual(bootstrapMean([...values].reverse()), bounds);
      const mirrored = bootstrapMean(values.map((each) => subtract(ZERO, each)));
      if (bounds === null || mirrored === null) throw new Error("no interval");
      assert.deepEqual(mirrored, { low: subtract(ZERO, bounds.high), high: subtract(ZERO, bounds.low) });
    }),
  );
});

t.test("what is bounded in doubles is what is counted, and what is open in doubles is counted", async (t) => {
  const counts = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 10 }).chain((values) =>
    fc.array(fc.integer({ min: 1, max: 5 }), { minLength: values.length, maxLength: values.length }).map((each) => {
      const least = Math.min(...values);
      return values.map((one, index) => ({ value: one - least, count: each[index] ?? 1 }));
    }),
  );
  fc.assert(
    fc.property(counts, (sample) => {
      const size = sample.reduce((sum, { count }) => sum + count, 0);
      assert.deepEqual(boundedQuantiles(sample, size, tails), countedQuantiles(sample, size, tails));
    }),
    { numRuns: 60 },
  );
  const coin = [
    { value: 0, count: 1 },
    { value: 1, count: 1 },
  ];
  const exactly = { low: fraction(1, 4), high: fraction(3, 4) };
  t.equal(boundedQuantiles(coin, 2, exactly), null, "0, 1 and 2 have 1, 2 and 1 of 4 resamples");
  t.same(resampledSumQuantiles(coin, 2, exactly), { low: 0, high: 1 });
  const more = { low: fraction(250_001, 1_000_000), high: fraction(750_001, 1_000_000) };
  t.same(resampledSumQuantiles(coin, 2, more), { low: 1, high: 2 });
});

t.test("above a common multiple of 840, shares are rounded to the nearest 1/840, ties to the even", async (t) => {
  const finer = bootstrapMean([fraction(1, 16), fraction(1, 11), fraction(1, 13)]);
  // In units of 1/840, the values are 52.5, 76.36 and 64.6. Of the 27 resamples, one consists only of the minimum, and
  // one only of the maximum.
  t.same(finer, { low: fraction(52, 840), high: fraction(76, 840) });
  const ties = bootstrapMean([fraction(1, 16), fraction(3, 16), fraction(16, 143)]);
  t.same(ties, { low: fraction(52, 840), high: fraction(158, 840) }, "52.5 and 157.5");
  const below = bootstrapMean([fraction(-1, 16), fraction(-3, 16), fraction(16, 143)]);
  t.same(below?.low, fraction(-158, 840));
  const coarser = bootstrapMean([fraction(1, 16), fraction(1, 11)]);
  t.same(coarser, { low: fraction(1, 16), high: fraction(1, 11) }, "a common multiple of 176 is exact");
  const kept = bootstrapMean([fraction(1, 840), fraction(1, 7)]);
  t.same(kept, { low: fraction(1, 840), high: fraction(1, 7) }, "840 itself is exact");
});

t.test("a cumulative probability that is exactly the one asked for is never decided in doubles", async () => {
  const samples = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(samples, (given) => {
      const values = given.map((each) => each - Math.min(...given));
      const sample = [...new Set(values)].map((value) => ({
        value,
        count: values.filter((each) => each === value).length,
      }));
      const sums = values
        .reduce<number[]>((before) => before.flatMap((sum) => values.map((each) => sum + each)), [0])
        .sort((a, b) => a - b);
      for (const sum of new Set(sums)) {
        const atMost = BigInt(sums.lastIndexOf(sum) + 1);
        const exactly = fraction(atMost, sums.length);
        assert.equal(boundedQuantiles(sample, values.length, { low: exactly, high: exactly }), null);
        assert.equal(resampledSumQuantiles(sample, values.length, { low: exactly, high: exactly }).low, sum);
        const above = fraction(atMost * 10n ** 30n + 1n, BigInt(sums.length) * 10n ** 30n);
        if (sum === sums.at(-1)) continue;
        assert.equal(boundedQuantiles(sample, values.length, { low: above, high: above }), null);
        assert.ok(resampledSumQuantiles(sample, values.length, { low: above, high: above }).low > sum);
      }
    }),
    { numRuns: 25 },
  );
});

t.test("for many tasks the interval is where drawing by chance puts it", async (t) => {
  const chance = createChance(11);
  for (const tasks of [50, 200]) {
    const values = Array.from({ length: tasks }, () => {
      const copies = chance.between(1, 5);
      return fraction(chance.between(-copies, copies), copies);
    });
    const doubles = values.map(toNumber);
    const means = Array.from({ length: 4_000 }, () => {
      let drawn = 0;
      for (let n = 0; n < tasks; n++) drawn += doubles[chance.between(0, tasks - 1)] ?? 0;
      return drawn / tasks;
    }).sort((a, b) => a - b);
    const bounds = bootstrapMean(values);
    if (bounds === null) throw new Error("no interval");
    const width = toNumber(subtract(bounds.high, bounds.low));
    t.ok(Math.abs(toNumber(bounds.low) - (means[99] ?? 0)) < width / 25, `low of ${tasks}`);
    t.ok(Math.abs(toNumber(bounds.high) - (means[3_899] ?? 0)) < width / 25, `high of ${tasks}`);
  }
});
