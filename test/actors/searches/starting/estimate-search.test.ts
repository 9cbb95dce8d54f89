import t from "tap";
import { estimateSchema } from "../../../../actors/searches/reads/search-schemas.js";
import { estimateSearch } from "../../../../actors/searches/starting/estimate-search.js";
import { unmeasured } from "../rules/health.js";

const budget = { iterations: 2, perIteration: 2, ceiling: { amount: 20, currency: "EUR" }, concurrency: 4, repeats: 1 };

function basis(tasks: number, health = unmeasured) {
  const entries = Array.from({ length: tasks }, (_, n) => ({
    runId: `run_${n}`,
    taskId: `task_${n}`,
    spent: { amount: 0.1, currency: "EUR" },
    ms: 1_000,
    outcome: "accepted" as const,
  }));
  return { entries, health, minGain: 0.05, lacksModel: false };
}

t.test("an estimate is as its schema says, with the objective that follows from the set's health", async (t) => {
  const made = estimateSearch(basis(10), { budget, objective: null });
  t.same(estimateSchema.parse(made), made);
  t.match(made, { objective: "success", searchedTasks: 6, heldOutTasks: 4, runs: { total: 10 + 24 + 12 + 2 } });
  const saturation = {
    replayId: "rep_1",
    rate: 1,
    interval: { rate: 1, low: 1, high: 1 },
    saturated: true,
    measuredAt: null,
    tasks: 10,
    few: false,
  };
  const saturated = { ...unmeasured, saturation };
  t.match(estimateSearch(basis(10, saturated), { budget, objective: null }), {
    objective: "cost",
    warnings: [{ kind: "noise-unmeasured" }, { kind: "saturated", rate: 1 }, {}],
  });
  t.match(estimateSearch(basis(10, saturated), { budget, objective: "success" }), { objective: "success" });
});

t.test("terms are refused as a start refuses them: what is wrong by itself first, then for the set", async (t) => {
  const paths = (of: ReturnType<typeof estimateSearch>) => ("errors" in of ? of.errors.map(({ path }) => path) : of);
  const wrong = { ...budget, iterations: 0, repeats: 9 };
  t.same(paths(estimateSearch(basis(4), { budget: wrong, objective: "speed" })), [
    "budget.iterations",
    "budget.repeats",
    "objective",
  ]);
  t.same(paths(estimateSearch(basis(4), { budget, objective: null })), ["setId"]);
  const low = { ...budget, ceiling: { amount: 0.01, currency: "EUR" } };
  t.same(paths(estimateSearch(basis(10), { budget: low, objective: null })), ["budget.ceiling.amount"]);
});
