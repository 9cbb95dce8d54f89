import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { fromText, toNumber } from "../../../../actors/fraction.js";
import { measureHeldOut, measureSearched, sumSpent } from "../../../../actors/searches/rules/candidate-figures.js";
import { settledCopies } from "../../statistics/arbitrary-copies.js";
import { listCopies } from "../../statistics/copies.js";
import { euro, pricedCopies } from "./snapshots.js";

const terms = { minGain: 0.05, currency: "EUR" };

t.test("a candidate's figures on searched runs, and the seed's", async (t) => {
  const seed = pricedCopies(listCopies({ a: "+-", b: "--", c: "??" }), 0.1);
  const own = pricedCopies(listCopies({ a: "++", b: "+-", c: "+?" }), 0.2);
  const figures = measureSearched(own, { ...terms, seed });
  t.match(figures, {
    searchScore: 5 / 6,
    searchScored: 5,
    searchTasks: 3,
    score: "5/6",
    cost: "6/25",
    costPerRun: euro(0.24),
    searchedSpent: euro(1.2),
    searchedPairs: { wins: 0, losses: 0, ties: 0 },
    searchedGain: { gain: 0.5, tasks: 2, few: true },
  });
  t.same(figures.tasks, [
    { taskId: "a", share: "1/1", cost: "1/5" },
    { taskId: "b", share: "1/2", cost: "1/5" },
    { taskId: "c", share: "1/1", cost: "2/5" },
  ]);
  const ofSeed = measureSearched(seed, { ...terms, seed: null });
  t.match(ofSeed, { searchScore: 0.25, searchedGain: null, searchedPairs: null, cost: "3/20" });
  t.same(ofSeed.tasks.at(-1), { taskId: "c", share: null, cost: null });
});

t.test("a copy that is unpriced or foreign leaves the cost of a run unknown, of its task too", async (t) => {
  const copies = pricedCopies(listCopies({ a: "+", b: "+" }), 1);
  const foreign = copies.map((copy, n) => (n === 0 ? { ...copy, spent: { amount: 1, currency: "USD" } } : copy));
  const unpriced = copies.map((copy, n) => (n === 0 ? { ...copy, priced: false } : copy));
  for (const some of [foreign, unpriced]) {
    const figures = measureSearched(some, { ...terms, seed: null });
    t.match(figures, { costPerRun: null, cost: null, tasks: [{ cost: null }, { cost: "1/1" }] });
  }
});

t.test("the held-out gain is known once both replays finished", async (t) => {
  const seed = listCopies({ a: "-", b: "-" });
  const own = listCopies({ a: "+", b: "?" });
  const measure = (bothFinished: boolean) => measureHeldOut(own, { ...terms, seed, bothFinished });
  t.match(measure(false), { heldOutScore: 1, heldOutGain: null, heldOutPairs: { wins: 0 } });
  t.match(measure(false), { heldOutScored: 1, heldOutTasks: 1 });
  t.match(measure(true).heldOutGain, { gain: 1, tasks: 1 });
  t.match(measureHeldOut(seed, { ...terms, seed: null, bothFinished: true }), {
    heldOutScore: 0,
    heldOutGain: null,
    heldOutPairs: null,
  });
  const none = listCopies({ a: "?", b: "?" });
  t.equal(measureHeldOut(none, { ...terms, seed, bothFinished: true }).heldOutGain, null);
});

t.test("costs on held-out tasks are compared where both sides know them, once both finished", async (t) => {
  const runs = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`t${n}`, "+"]));
  const seed = pricedCopies(listCopies({ ...runs, x: "+", y: "?" }), 0.2);
  const own = pricedCopies(listCopies({ ...runs, x: "?", y: "+", z: "+" }), 0.1);
  const measure = (bothFinished: boolean) => measureHeldOut(own, { ...terms, seed, bothFinished }).heldOutCost;
  t.same(measure(true), { tasks: 8, chance: 1 / 256, cheaper: true });
  t.equal(measure(false), null);
  t.equal(measureHeldOut(seed, { ...terms, seed: null, bothFinished: true }).heldOutCost, null);
});

t.test("a candidate spent what both its replays did", async (t) => {
  const searched = measureSearched(pricedCopies(listCopies({ a: "+-" }), 0.1), { ...terms, seed: null });
  t.same(sumSpent(searched, null), euro(0.2));
  const copies = pricedCopies(listCopies({ b: "?" }), 0.1);
  t.same(sumSpent(searched, measureHeldOut(copies, { ...terms, seed: [], bothFinished: true })), euro(0.3));
});

t.test("what is kept exactly is what is shown", async () => {
  const cents = fc.integer({ min: 0, max: 999 });
  fc.assert(
    fc.property(settledCopies, settledCopies, cents, (own, seed, cost) => {
      const figures = measureSearched(pricedCopies(own, cost / 1_000), { ...terms, seed });
      const shown = (text: string | null) => (text === null ? null : toNumber(fromText(text)));
      assert.equal(shown(figures.score), figures.searchScore);
      assert.equal(shown(figures.cost), figures.costPerRun?.amount ?? null);
      const shares = figures.tasks.flatMap(({ share }) => (share === null ? [] : [toNumber(fromText(share))]));
      const average = shares.reduce((a, b) => a + b, 0) / shares.length;
      assert.ok(shares.length === 0 || Math.abs(average - (figures.searchScore ?? 9)) < 1e-9);
    }),
  );
});
