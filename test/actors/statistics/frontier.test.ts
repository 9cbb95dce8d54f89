import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { type Fraction, fraction } from "../../../actors/fraction.js";
import { paretoFrontier } from "../../../actors/statistics/frontier.js";

const point = (id: string, score: number | null, cost: number | null, isSeed = false) => ({
  id,
  score: score === null ? null : fraction(score, 60),
  cost: cost === null ? null : fraction(cost, 7),
  isSeed,
});

const listIds = (points: readonly { readonly id: string }[]) => points.map(({ id }) => id);

t.test("a point stays when none is better without being dearer, or cheaper without being worse", async (t) => {
  const points = [
    point("good", 50, 9),
    point("cheap", 30, 2),
    point("worse", 29, 2),
    point("dear", 50, 10),
    point("mid", 40, 5),
  ];
  t.same(listIds(paretoFrontier(points)), ["cheap", "mid", "good"]);
});

t.test("equal points stay both, in the order given", async (t) => {
  t.same(listIds(paretoFrontier([point("b", 30, 2), point("a", 30, 2), point("c", 30, 3)])), ["b", "a"]);
  t.same(listIds(paretoFrontier([point("b", 30, null), point("a", 30, null)])), ["b", "a"]);
});

t.test("an unknown cost is the dearest, an unknown score is off", async (t) => {
  t.same(listIds(paretoFrontier([point("unknown", 50, null), point("dear", 49, 900)])), ["dear", "unknown"]);
  t.same(listIds(paretoFrontier([point("unknown", 50, null), point("dear", 50, 900)])), ["dear"]);
  t.same(listIds(paretoFrontier([point("none", null, 1)])), []);
});

t.test("the seed always stays, and of equal cost the better comes first", async (t) => {
  t.same(listIds(paretoFrontier([point("seed", 10, 5, true), point("good", 50, 5)])), ["good", "seed"]);
  t.same(listIds(paretoFrontier([point("seed", null, null, true), point("good", 50, 5)])), ["good", "seed"]);
});

t.test("equal scores by other fractions are equal", async (t) => {
  const thirds: Fraction = fraction(2, 6);
  t.same(listIds(paretoFrontier([{ ...point("a", 0, 5), score: thirds }, point("b", 20, 5)])), ["a", "b"]);
});

t.test("the frontier is what nested loops leave, whatever the order", async () => {
  const amount = fc.option(fc.integer({ min: 0, max: 6 }));
  const points = fc.array(fc.tuple(amount, amount, fc.boolean()), { maxLength: 12 });
  fc.assert(
    fc.property(points, (given) => {
      const all = given.map(([score, cost, isSeed], n) => ({
        n,
        score,
        cost: cost ?? 99,
        point: point(`${n}`, score, cost, isSeed),
      }));
      const stays = all.filter(({ score, cost, point }) => {
        if (point.isSeed) return true;
        if (score === null) return false;
        return !all.some((other) => {
          const otherScore = other.score ?? -1;
          return otherScore >= score && other.cost <= cost && (otherScore > score || other.cost < cost);
        });
      });
      const found = paretoFrontier(all.map((each) => each.point));
      assert.deepEqual(listIds(found).sort(), stays.map(({ n }) => `${n}`).sort());
      const costs = found.map(({ id }) => all[Number(id)]?.cost ?? 0);
      assert.deepEqual(
        costs,
        [...costs].sort((a, b) => a - b),
      );
      assert.deepEqual(listIds(paretoFrontier(all.map((each) => each.point).reverse())).sort(), listIds(found).sort());
    }),
  );
});
