import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { decimal, fraction } from "../../../actors/fraction.js";
import { neededRepeats, suggestedRepeats } from "../../../actors/statistics/minimum-gain.js";
import { measureNoise } from "../../../actors/statistics/noise.js";
import { shuffled, someCopies } from "./arbitrary-copies.js";
import { listCopies, listTasks } from "./copies.js";
import { slowShares, WHOLE } from "./slow-reading.js";

t.test("20 tasks at 1.00 and 0.95 need one copy for a gain of 0.05, not two", async (t) => {
  const copies = [...listTasks(19, "++"), ...listTasks(1, "+-", "f")];
  t.same(measureNoise(copies, { repeats: 2, minGain: 0.05 }), {
    perRepeat: [1, 0.95],
    spread: 0.05,
    flippedTasks: ["f00"],
    noisyInOneCopy: false,
    neededRepeats: 1,
    suggestedRepeats: 1,
  });
  t.equal(Math.ceil(((1 - 0.95) / 0.05) ** 2), 2, "as doubles have it");
});

t.test("the copies needed are the spread over the smallest gain, squared and rounded up", async (t) => {
  const needed = (spread: number, minGain: number) => neededRepeats(decimal(spread), minGain);
  t.same([needed(0, 0.05), needed(0.01, 0.05), needed(0.05, 0.05)], [0, 1, 1]);
  t.same([needed(0.0500001, 0.05), needed(0.1, 0.05), needed(0.11, 0.05)], [2, 4, 5]);
  t.same([needed(0.3, 0.1), needed(0.7, 0.1), needed(1, 0.05)], [9, 49, 400]);
  t.same([needed(0, 0), needed(0.001, 0)], [0, 6], "over a smallest gain of 0 any spread is too much");
  t.equal(neededRepeats(fraction(1, 3), 0.1), 12, "100 / 9 rounded up");
  t.equal(needed(1, 5e-324), Number.MAX_SAFE_INTEGER, "and stays a number");
  t.same([0, 1, 5, 6, 49].map(suggestedRepeats), [0, 1, 5, 5, 5]);
});

t.test("a spread above the smallest gain is noisy in one copy, at two already", async (t) => {
  const copies = [...listTasks(19, "++"), ...listTasks(1, "+-", "f")];
  t.match(measureNoise(copies, { repeats: 2, minGain: 0.049 }), { noisyInOneCopy: true, neededRepeats: 2 });
});

t.test("a smallest gain of 0 is noisy with any spread, and not without", async (t) => {
  const still = listTasks(5, "++");
  const moving = [...listTasks(4, "++"), ...listTasks(1, "+-", "f")];
  t.match(measureNoise(still, { repeats: 2, minGain: 0 }), { noisyInOneCopy: false, neededRepeats: 0 });
  t.match(measureNoise(moving, { repeats: 2, minGain: 0 }), {
    noisyInOneCopy: true,
    neededRepeats: 6,
    suggestedRepeats: 5,
  });
});

t.test("each copy's success is over the tasks that scored that copy, null when none did", async (t) => {
  const copies = listCopies({ "a/1": "+?-.", "a/2": "-??.", b: "++?." });
  t.match(measureNoise(copies, { repeats: 4, minGain: 0.05 }), {
    perRepeat: [0.75, 1, 0, null],
    spread: 1,
    flippedTasks: ["a"],
    neededRepeats: 400,
  });
});

t.test("noise is null while fewer than two of the copies were scored", async (t) => {
  t.equal(measureNoise(listTasks(5, "+?"), { repeats: 2, minGain: 0.05 }), null);
  t.equal(measureNoise(listTasks(5, "+"), { repeats: 1, minGain: 0.05 }), null);
  t.equal(measureNoise([], { repeats: 3, minGain: 0.05 }), null);
});

t.test("noise is what a slow reading has, in any order of copies", async () => {
  fc.assert(
    fc.property(shuffled(someCopies), ([copies, others]) => {
      const rates = [1, 2, 3, 4, 5].map((repeat) => {
        const shares = Object.values(slowShares(copies.filter((copy) => copy.repeat === repeat)));
        return shares.length === 0 ? null : { sum: shares.reduce((a, b) => a + b), below: shares.length * WHOLE };
      });
      const known = rates.filter((rate) => rate !== null);
      const noise = measureNoise(copies, { repeats: 5, minGain: 0.05 });
      assert.deepEqual(measureNoise(others, { repeats: 5, minGain: 0.05 }), noise);
      if (known.length < 2) return assert.equal(noise, null);
      // The rates are multiplied by the product of all denominators, so their spread is an integer. The needed repeats
      // are (20 x spread)² / product², rounded up.
      const product = known.reduce((all, { below }) => all * BigInt(below), 1n);
      const whole = known
        .map(({ sum, below }) => (BigInt(sum) * product) / BigInt(below))
        .sort((a, b) => Number(a - b));
      const spread = (whole.at(-1) ?? 0n) - (whole[0] ?? 0n);
      const [above, over] = [(20n * spread) ** 2n, product ** 2n];
      assert.equal(noise?.neededRepeats, Number((above + over - 1n) / over));
      assert.deepEqual(
        noise?.perRepeat,
        rates.map((rate) => (rate === null ? null : rate.sum / rate.below)),
      );
      const flipped = [...new Set(copies.map(({ taskId }) => taskId))].sort().filter((taskId) => {
        const results = copies.filter((copy) => copy.taskId === taskId).map(({ result }) => result);
        return results.includes("succeeded") && results.includes("failed");
      });
      return assert.deepEqual(noise?.flippedTasks, flipped);
    }),
  );
});
