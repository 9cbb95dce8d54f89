import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { onTasksScoredBy, roomToImprove, successGain } from "../../../actors/statistics/gain.js";
import { successInterval } from "../../../actors/statistics/success.js";
import { shuffled, someCopies } from "./arbitrary-copies.js";
import { listCopies, listTasks } from "./copies.js";
import { slowDifferences, slowInterval, slowVerdict, WHOLE } from "./slow-reading.js";

t.test("gain, interval and verdict are those of all resamples of the tasks scored on both sides", async () => {
  const minGains = fc.constantFrom(0, 500, 1_000, 2_000, 5_000, 10_000);
  fc.assert(
    fc.property(someCopies, someCopies, minGains, (own, other, minGain) => {
      const differences = slowDifferences(own, other);
      const found = successGain(own, other, minGain / 10_000);
      if (differences.length === 0) return assert.equal(found, null);
      const { sum, low, high } = slowInterval(differences);
      const below = differences.length * WHOLE;
      return assert.deepEqual(found, {
        gain: sum / below,
        low: low / below,
        high: high / below,
        verdict: slowVerdict(differences, minGain),
        minGain: minGain / 10_000,
        tasks: differences.length,
        few: differences.length < 5,
      });
    }),
    { numRuns: 300 },
  );
});

t.test("the order of copies does not matter, and the other side sees the opposite", async () => {
  const opposite = { better: "worse", worse: "better", "within-noise": "within-noise" };
  fc.assert(
    fc.property(shuffled(someCopies), shuffled(someCopies), ([own, ownToo], [other, otherToo]) => {
      const gained = successGain(own, other, 0.05);
      assert.deepEqual(successGain(ownToo, otherToo, 0.05), gained);
      const lost = successGain(other, own, 0.05);
      if (gained === null || lost === null) return assert.equal(lost, gained);
      assert.deepEqual([lost.gain, lost.low, lost.high], [0 - gained.gain, 0 - gained.high, 0 - gained.low]);
      return assert.equal(lost.verdict, opposite[gained.verdict]);
    }),
  );
});

t.test("a gain of exactly the smallest is better, and its loss worse, as the decimals are written", async (t) => {
  // Each task has one more successful copy of 20, so the gain is 0.05.
  const own = listTasks(5, "++++++++++++++++++++");
  const other = listTasks(5, "+++++++++++++++++++-");
  t.match(successGain(own, other, 0.05), {
    gain: 0.05,
    low: 0.05,
    high: 0.05,
    verdict: "better",
    tasks: 5,
    few: false,
  });
  t.match(successGain(own, other, 0.050000001), { verdict: "within-noise" });
  t.match(successGain(other, own, 0.05), { gain: -0.05, verdict: "worse" });
  t.match(successGain(other, own, 0.050000001), { verdict: "within-noise" });
  // In doubles, 0.3 - 0.2 is less than 0.1.
  const three = listTasks(6, "+++-------");
  t.match(successGain(three, listTasks(6, "++--------"), 0.1), { verdict: "better" });
});

t.test("an interval that touches 0 is within noise, however small the smallest gain", async (t) => {
  const own = [...listTasks(3, "+"), ...listTasks(3, "-", "f")];
  const other = [...listTasks(3, "-"), ...listTasks(3, "-", "f")];
  t.match(successGain(own, other, 0), { gain: 0.5, low: 1 / 6, verdict: "better" });
  const fewer = [...listTasks(2, "+"), ...listTasks(3, "-", "f")];
  t.match(successGain(fewer, [...listTasks(2, "-"), ...listTasks(3, "-", "f")], 0), {
    gain: 0.4,
    low: 0,
    verdict: "within-noise",
  });
  t.match(successGain(listTasks(9, "+-"), listTasks(9, "-+"), 0), { gain: 0, verdict: "within-noise" });
});

t.test("under five tasks a gain says few, and leaves open whether there is room to improve", async (t) => {
  const findGain = (tasks: number) => successGain(listTasks(tasks, "+"), listTasks(tasks, "-"), 0.05);
  t.match(findGain(4), { verdict: "better", tasks: 4, few: true });
  t.match(findGain(5), { verdict: "better", tasks: 5, few: false });
  t.same([findGain(4), findGain(5), null].map(roomToImprove), [null, true, null]);
  t.equal(roomToImprove(successGain(listTasks(5, "+"), listTasks(5, "+"), 0.05)), false);
  t.equal(roomToImprove(successGain(listTasks(5, "-"), listTasks(5, "+"), 0.05)), false);
});

t.test("what a gain is over is the other side's success on the tasks scored on both", async (t) => {
  const own = listCopies({ a: "+", b: "?", c: "." });
  const other = listCopies({ a: "-", b: "+", c: "+", d: "+" });
  t.equal(successInterval(onTasksScoredBy(other, own))?.rate, 0);
  t.equal(successGain(own, other, 0.05)?.tasks, 1);
});
