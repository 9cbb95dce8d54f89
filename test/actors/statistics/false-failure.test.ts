import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { falseFailureChance } from "../../../actors/statistics/false-failure.js";
import { findRegressions } from "../../../actors/statistics/regression.js";
import { listCopies, listTasks } from "./copies.js";
import { simulateCopies } from "./simulated-copies.js";

t.test("without a repeated copy the chance is unmeasured, never 0", async (t) => {
  const check = { repeats: 3, mostRegressions: 0 };
  t.equal(falseFailureChance(listTasks(20, "+"), check), null);
  t.equal(falseFailureChance(listTasks(20, "+?."), check), null);
  t.equal(falseFailureChance([], check), null);
});

t.test("where no copy differs it is small but not 0; where no task can regress it is 0", async (t) => {
  const chance = falseFailureChance(listTasks(20, "+++"), { repeats: 3, mostRegressions: 0 });
  t.ok(chance !== null && chance > 0 && chance < 0.05, `${chance}`);
  t.equal(falseFailureChance(listTasks(20, "+--"), { repeats: 3, mostRegressions: 0 }), 0);
});

/** Generates a task's number of scored copies, and how many of them succeeded. */
const task = fc
  .integer({ min: 1, max: 5 })
  .chain((scored) => fc.integer({ min: 0, max: scored }).map((succeeded) => ({ scored, succeeded })));

t.test("it is what a beta distribution by its moments has, over all sets of tasks that may regress", async () => {
  const check = fc.record({ repeats: fc.integer({ min: 1, max: 5 }), mostRegressions: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(fc.array(task, { minLength: 1, maxLength: 8 }), check, (tasks, check) => {
      const pictures = tasks.map(({ scored, succeeded }, n) => [
        `t${n}`,
        "+".repeat(succeeded) + "-".repeat(scored - succeeded),
      ]);
      const chance = falseFailureChance(listCopies(Object.fromEntries(pictures)), check);
      const wanted = slowChance(tasks, check);
      if (wanted === null || chance === null) return assert.equal(chance, wanted);
      return assert.ok(Math.abs(chance - wanted) < 1e-9, `${chance} for ${wanted}`);
    }),
    { numRuns: 200 },
  );
});

interface Scored {
  readonly scored: number;
  readonly succeeded: number;
}

function slowChance(tasks: readonly Scored[], check: { repeats: number; mostRegressions: number }): number | null {
  const repeated = tasks.filter(({ scored }) => scored > 1);
  const most = Math.max(0, ...repeated.map(({ scored }) => scored));
  const hasFlips = repeated.some(({ scored, succeeded }) => succeeded !== 0 && succeeded !== scored);
  const added = hasFlips ? [] : [{ scored: most, succeeded: most - 1 }];
  if (repeated.length === 0) return null;
  const all = [...tasks, ...added];
  const mean = all.reduce((sum, { scored, succeeded }) => sum + succeeded / scored, 0) / all.length;
  const ofRepeated = [...repeated, ...added];
  const within =
    ofRepeated.reduce((sum, { scored: s, succeeded: k }) => sum + (k / s) * (1 - k / s) * (s / (s - 1)), 0) /
    ofRepeated.length;
  const between = Math.max(mean * (1 - mean) - within, within * 1e-12);
  const [alpha, beta] = [(mean * within) / between, ((1 - mean) * within) / between];
  const chances = tasks
    .filter(({ scored, succeeded }) => scored === succeeded)
    .map(({ scored }) => {
      let below = 0;
      for (let x = 0; 2 * x < check.repeats; x++) {
        const ways = choose(check.repeats, x);
        below +=
          (ways * rising(alpha + scored, x) * rising(beta, check.repeats - x)) /
          rising(alpha + beta + scored, check.repeats);
      }
      return below;
    });
  let more = 0;
  for (let set = 0; set < 2 ** chances.length; set++) {
    const ofSet = chances.map((chance, at) => (((set >> at) & 1) === 1 ? chance : 1 - chance));
    const size = chances.filter((_, at) => ((set >> at) & 1) === 1).length;
    if (size > check.mostRegressions) more += ofSet.reduce((product, chance) => product * chance, 1);
  }
  return more;
}

function rising(from: number, steps: number): number {
  return Array.from({ length: steps }, (_, step) => from + step).reduce((product, each) => product * each, 1);
}

function choose(of: number, count: number): number {
  return count === 0 ? 1 : (choose(of - 1, count - 1) * of) / count;
}

t.test("a task with several runs is checked with all their copies", async (t) => {
  const check = { repeats: 1, mostRegressions: 0 };
  const one = falseFailureChance(listCopies({ "a/1": "+++", b: "+-" }), check) ?? 1;
  const three = falseFailureChance(listCopies({ "a/1": "+", "a/2": "+", "a/3": "+", b: "+-" }), check) ?? 1;
  t.ok(three < one, "two of three must fail, instead of one of one");
});

t.test("on the average of baselines it is how often checks that change nothing fail", async (t) => {
  const rates = Array.from({ length: 20 }, (_, n) => (n + 0.5) / 20);
  const replay = simulateCopies(17);
  for (const [before, repeats] of [
    [3, 3],
    [3, 1],
    [5, 5],
  ] as const) {
    const checks = Array.from({ length: 600 }, () => {
      const baseline = replay(rates, before);
      return {
        failed: findRegressions(replay(rates, repeats), baseline, []).length > 0,
        chance: falseFailureChance(baseline, { repeats, mostRegressions: 0 }) ?? 0,
      };
    });
    const failed = checks.filter((each) => each.failed).length / checks.length;
    const told = checks.reduce((sum, { chance }) => sum + chance, 0) / checks.length;
    t.ok(Math.abs(failed - told) < 0.05, `${told} told, ${failed} failed`);
  }
});
