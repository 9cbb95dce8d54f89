import t from "tap";
import { type HookCounts, noCounts, sumEnded, withEnded, withWaiting } from "../../../actors/hooks/hook-health.js";

const HOUR = 60 * 60 * 1_000;
const start = Date.parse("2026-03-01T10:30:00.000Z");

/** Counts a delivery at each of these hours after the start. */
const deliveredAt = (hours: readonly number[], counts: HookCounts = noCounts) =>
  hours.reduce((sum, hour) => withEnded(sum, "delivered", start + hour * HOUR), counts);

t.test("firings count by result in the hour in which they ended", async (t) => {
  let counts = noCounts;
  for (const state of ["delivered", "failed", "delivered", "refused"] as const)
    counts = withEnded(counts, state, start);
  t.same(counts.hours, [{ hour: Math.floor(start / HOUR), delivered: 2, refused: 1, failed: 1 }]);
  t.same(sumEnded(counts, start), { delivered: 2, refused: 1, failed: 1 });
});

t.test("a firing counts until the current hour and the 24 before it no longer contain its hour", async (t) => {
  const counts = deliveredAt([0]);
  const delivered = (hours: number) => sumEnded(counts, start + hours * HOUR).delivered;
  t.same([0, 1, 23.99, 24, 24.49, 24.5, 25, 1_000].map(delivered), [1, 1, 1, 1, 1, 0, 0, 0]);
});

t.test("the stored hours are the latest 25, however long a hook fires", async (t) => {
  const counts = deliveredAt(Array.from({ length: 500 }, (_, n) => n / 4));
  t.equal(counts.hours.length, 25);
  t.equal(sumEnded(counts, start + 124.75 * HOUR).delivered, 24 * 4 + 2, "four an hour, and the current half hour");
  t.same(deliveredAt([200], counts).hours.length, 1, "after a pause only the new hour is left");
});

t.test("a clock that goes back loses no count, and one that was far ahead is forgotten", async (t) => {
  const slipped = deliveredAt([1, 0.4, 0.4]);
  t.equal(slipped.hours.length, 1);
  t.equal(sumEnded(slipped, start + 0.4 * HOUR).delivered, 3);
  const ahead = deliveredAt([0, 9_000]);
  t.equal(sumEnded(ahead, start).delivered, 0, "hours of the future are not the last 24");
  t.equal(sumEnded(deliveredAt([0], ahead), start).delivered, 1);
});

t.test("the number of waiting firings never falls below zero", async (t) => {
  t.equal(withWaiting(noCounts, -1).waiting, 0);
  t.equal(withWaiting(withWaiting(withWaiting(noCounts, 1), 1), -1).waiting, 1);
});
