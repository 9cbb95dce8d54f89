import t from "tap";
import { searchEndings } from "../../../../actors/searches/rules/ending.js";
import { hasGain } from "../../../../actors/searches/rules/ranking.js";
import { brokenPromises } from "./search-promises.js";
import { isFalseFind, searchForNothing, searchForPlanted, searchWithFaults } from "./simulated-worlds.js";

/** Number of searches per kind. `chances.ts` simulates 250 per kind. */
const SEARCHES = 12;

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

t.test("when no candidate is better, at most one of twenty searches claims a gain", async (t) => {
  const searches = [10, 20, 50].flatMap((tasks) => {
    const shape = { tasks, repeats: 1, iterations: 1, perIteration: 50 };
    return numbers(SEARCHES).map((number) => searchForNothing(shape, number));
  });
  const found = searches.filter(isFalseFind).length;
  t.ok(20 * found <= searches.length, `${found} of ${searches.length}`);
  t.ok(
    searches.some(({ best, mark }) => best?.seed === false && mark !== null),
    "but some have a candidate that looked better on searched tasks, and say so",
  );
});

t.test(
  "when no candidate is cheaper, at most one of twenty searches claims one, though almost all see one",
  async (t) => {
    const searches = [20, 50].flatMap((tasks) => {
      const shape = { tasks, repeats: 1, iterations: 1, perIteration: 50 };
      return numbers(SEARCHES).map((number) => searchForNothing(shape, number, "cost"));
    });
    const found = searches.filter(isFalseFind).length;
    t.ok(20 * found <= searches.length, `${found} of ${searches.length}`);
    const seen = searches.filter(({ candidates }) => hasGain(candidates, "cost")).length;
    t.ok(10 * seen >= 9 * searches.length, `${seen} of ${searches.length}`);
  },
);

t.test("a candidate that succeeds more often by 0.25 is the best of nine in ten searches", async (t) => {
  const shape = { tasks: 50, repeats: 3, iterations: 2, perIteration: 5 };
  const searches = numbers(20).map((number) => searchForPlanted(shape, number, 5));
  t.equal(searches.filter(({ isProposed }) => isProposed).length, searches.length);
  const found = searches.filter(({ isBest }) => isBest).length;
  t.ok(10 * found >= 9 * searches.length, `${found} of ${searches.length}`);
});

t.test("whatever fails, a search ends with an ending, and spends no more than it may", async (t) => {
  const searches = numbers(300).map(searchWithFaults);
  t.same(
    searches.flatMap((each, number) => brokenPromises(each).map((promise) => `search ${number}: ${promise}`)),
    [],
  );
  const endings = new Set(searches.map(({ search }) => search.ending));
  t.same(
    searchEndings.filter((ending) => !endings.has(ending)),
    ["stopped"],
    "each ending occurs, but for a person's stop",
  );
});
