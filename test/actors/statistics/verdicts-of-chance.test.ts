import t from "tap";
import type { Copy } from "../../../actors/statistics/copy.js";
import { successGain } from "../../../actors/statistics/gain.js";
import { createChance } from "../../simulation/chance.js";
import { simulateCopies } from "./simulated-copies.js";
import { slowDifferences, WHOLE } from "./slow-reading.js";

/** Returns the verdict from randomly drawn resamples, in doubles. */
function drawnVerdict(
  own: readonly Copy[],
  other: readonly Copy[],
  between: (from: number, to: number) => number,
): string {
  const differences = slowDifferences(own, other).map((difference) => difference / WHOLE);
  const means = Array.from({ length: 1_000 }, () => {
    let sum = 0;
    for (let n = 0; n < differences.length; n++) sum += differences[between(0, differences.length - 1)] ?? 0;
    return sum / differences.length;
  }).sort((a, b) => a - b);
  const gain = differences.reduce((a, b) => a + b) / differences.length;
  if ((means[24] ?? 0) > 1e-9 && gain > 0.05 - 1e-9) return "better";
  if ((means[974] ?? 0) < -1e-9 && gain < -0.05 + 1e-9) return "worse";
  return "within-noise";
}

t.test("of replays that differ by nothing, as many read better or worse as resampling by chance finds", async (t) => {
  const replay = simulateCopies(23);
  const { between } = createChance(29);
  for (const [tasks, repeats] of [
    [5, 1],
    [5, 3],
    [12, 5],
    [20, 3],
    [50, 3],
  ] as const) {
    const rates = Array.from({ length: tasks }, (_, n) => (n + 0.5) / tasks);
    const pairs = Array.from({ length: 150 }, () => ({ own: replay(rates, repeats), other: replay(rates, repeats) }));
    const exact = pairs.filter(({ own, other }) => successGain(own, other, 0.05)?.verdict !== "within-noise").length;
    const drawn = pairs.filter(({ own, other }) => drawnVerdict(own, other, between) !== "within-noise").length;
    t.ok(Math.abs(exact - drawn) <= 0.03 * pairs.length, `${tasks} tasks, ${repeats} copies: ${exact} and ${drawn}`);
    t.ok(exact <= 0.2 * pairs.length, `${tasks} tasks, ${repeats} copies: ${exact} of ${pairs.length}`);
  }
});

t.test("a gain of 0.2 on 30 tasks with three copies reads better in at least four of five replays", async (t) => {
  const replay = simulateCopies(31);
  const rates = Array.from({ length: 30 }, (_, n) => (0.8 * n) / 29);
  const better = rates.map((rate) => rate + 0.2);
  const verdicts = Array.from({ length: 500 }, () => successGain(replay(better, 3), replay(rates, 3), 0.05)?.verdict);
  const found = verdicts.filter((verdict) => verdict === "better").length;
  t.ok(found >= 400, `${found} of 500`);
  t.notOk(verdicts.includes("worse"));
});
