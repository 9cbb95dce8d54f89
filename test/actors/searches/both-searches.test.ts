import assert from "node:assert/strict";
import t from "tap";
import { ALL_WORSE, NO_GAIN, plantedAt, searchBoth } from "./both-searches.js";

const shape = { repeats: 1, iterations: 10, perIteration: 5 };

t.test(
  "by the machines a search ends as by the rules alone, figure by figure, when no candidate is better",
  async (t) => {
    for (const tasks of [10, 20, 50]) {
      const { machines, rules } = searchBoth({ ...shape, tasks }, tasks, NO_GAIN);
      assert.deepStrictEqual(machines, rules);
      t.ok(machines.candidates.length > 5, `${machines.candidates.length - 1} candidates were proposed`);
    }
  },
);

t.test("so it does when a reflection finds no failed task", async (t) => {
  const { machines, rules } = searchBoth({ ...shape, tasks: 10, objective: "cost" }, 9, ALL_WORSE);
  assert.deepStrictEqual(machines, rules);
  t.equal(machines.iterations.at(-1)?.outcome, "no-failures");
});

t.test("so it does when one is better, which is its best", async (t) => {
  const { machines, rules } = searchBoth({ tasks: 50, repeats: 3, iterations: 2, perIteration: 5 }, 7, plantedAt("c3"));
  assert.deepStrictEqual(machines, rules);
  t.equal(machines.best, "c3");
});
