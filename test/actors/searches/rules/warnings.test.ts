import t from "tap";
import type { SetHealth } from "../../../../actors/replays/figures/set-health.js";
import { countHeldOut } from "../../../../actors/searches/rules/split.js";
import { listWarnings, type WarningSources } from "../../../../actors/searches/rules/warnings.js";
import { type Gain, roomToImprove } from "../../../../actors/statistics/gain.js";
import { checkFlakiness, judgeAgreement, type TwoLooks } from "../../../../actors/statistics/second-looks.js";
import { findNoise, unmeasured } from "./health.js";
import { costed, euro, toGain, toSplit } from "./snapshots.js";

const tasksFrom = (from: number, to: number, cost: number | null = 1) =>
  Array.from({ length: to - from }, (_, n) => costed(`t${from + n}`, cost));

/** The health of a set without problems. Only its noise is measured. */
const healthy: SetHealth = { ...unmeasured, noise: findNoise(20, 0, 0.05) };

const sources: WarningSources = {
  health: healthy,
  minGain: 0.05,
  objective: "success",
  lacksModel: false,
  budget: { iterations: 1, perIteration: 1, repeats: 1, ceiling: euro(1_000) },
  split: toSplit(tasksFrom(0, 12), tasksFrom(12, 20)),
};

const toWarn = (health: Partial<SetHealth>, repeats = 1) =>
  listWarnings({ ...sources, health: { ...healthy, ...health }, budget: { ...sources.budget, repeats } });

t.test("nothing is amiss with a set that does not move, has room, and money enough", async (t) => {
  t.same(listWarnings(sources), []);
});

t.test("noise that nobody measured", async (t) => {
  t.same(toWarn({ noise: null }), [{ kind: "noise-unmeasured" }]);
});

t.test("20 tasks at 1.00 and 0.95 need one copy for a gain of 0.05, where doubles say two", async (t) => {
  t.equal(Math.ceil(((1 - 0.95) / 0.05) ** 2), 2, "in doubles");
  t.same(toWarn({ noise: findNoise(20, 1, 0.05) }), []);
  const noisy = (neededRepeats: number, suggestedRepeats: number, spread: number) => [
    { kind: "noisy", spread, minGain: 0.05, neededRepeats, suggestedRepeats },
  ];
  t.same(toWarn({ noise: findNoise(20, 2, 0.05) }, 3), noisy(4, 4, 0.1));
  t.same(toWarn({ noise: findNoise(20, 2, 0.05) }, 4), []);
  t.same(toWarn({ noise: findNoise(20, 3, 0.05) }, 5), noisy(9, 5, 0.15), "no search can tell such a gain");
});

t.test("over a smallest gain of 0 any spread is noisy", async (t) => {
  const warned = (failed: number) =>
    listWarnings({ ...sources, minGain: 0, health: { ...healthy, noise: findNoise(20, failed, 0) } });
  t.same(warned(0), []);
  t.same(warned(1), [{ kind: "noisy", spread: 0.05, minGain: 0, neededRepeats: 6, suggestedRepeats: 5 }]);
});

t.test("a live config that hardly ever fails", async (t) => {
  const saturation = { replayId: "r", rate: 0.96, interval: { rate: 0.96, low: 0.9, high: 1 }, saturated: true };
  const health = { saturation: { ...saturation, measuredAt: null, tasks: 20, few: false } };
  t.same(toWarn(health), [{ kind: "saturated", rate: 0.96 }]);
  t.same(toWarn({ saturation: { ...health.saturation, saturated: false } }), []);
});

const looks = (count: number, agreed: number): readonly TwoLooks[] =>
  Array.from({ length: count }, (_, n) => ({ first: "passed", second: n < agreed ? "passed" : "failed" }));

t.test("a judge that agrees with itself less than 80 % of the time, and a check that flips", async (t) => {
  t.same(toWarn({ judge: { replayId: "r", ...judgeAgreement(looks(5, 4)) } }), []);
  t.same(toWarn({ judge: { replayId: "r", ...judgeAgreement(looks(4, 3)) } }), [
    { kind: "judge-unstable", agreement: 0.75, compared: 4 },
  ]);
  const checks = (agreed: number) => {
    const checked = looks(4, agreed).map((each, n) => ({ ...each, taskId: `t${n}`, originalRunId: "o", runId: "r" }));
    return { checks: { replayId: "r", ...checkFlakiness(checked) } };
  };
  t.same(toWarn(checks(4)), []);
  t.same(toWarn(checks(3)), [{ kind: "flaky-checks", flaky: 1, rechecked: 4 }]);
});

t.test("a set on which the answer itself does not do clearly better", async (t) => {
  const oracle = (gain: Gain | null): Pick<SetHealth, "oracle"> => ({
    oracle: {
      replayId: "o",
      candidateId: "c",
      repeats: 1,
      state: "finished",
      againstReplayId: "r",
      againstState: "finished",
      answered: 9,
      live: 0.5,
      withAnswer: 0.5,
      gain,
      roomToImprove: roomToImprove(gain),
    },
  });
  t.same(toWarn(oracle(toGain("within-noise", 5))), [
    { kind: "no-headroom", gain: 0, low: -0.1, high: 0.1, answered: 9 },
  ]);
  t.same(
    toWarn(oracle(toGain("worse", 5))).map(({ kind }) => kind),
    ["no-headroom"],
  );
  for (const gain of [toGain("better", 5), toGain("within-noise", 4), null]) t.same(toWarn(oracle(gain)), []);
});

t.test("a budget that allots the live config less than its runs cost before", async (t) => {
  // The seed costs 20, a search replay 12, a held-out replay 8, and an agent run 3.
  const warned = (amount: number, cost: number | null = 1) =>
    listWarnings({
      ...sources,
      budget: { ...sources.budget, ceiling: euro(amount) },
      split: toSplit(tasksFrom(0, 12, cost), tasksFrom(12, 20, cost)),
    });
  t.same(warned(43), [], "exactly as much");
  t.same(warned(42.99), [{ kind: "thin-budget", allotted: euro(19.995348837), expected: euro(20) }]);
  t.same(warned(0.1, null), [], "nobody knows what they cost");
  const thirds = toSplit(tasksFrom(0, 12), [...tasksFrom(12, 18), costed("x", 0.1), costed("y", null)]);
  const wanted = listWarnings({ ...sources, split: thirds, budget: { ...sources.budget, ceiling: euro(1) } });
  t.same(
    wanted.map(({ kind }) => kind),
    ["thin-budget"],
  );
});

t.test("fewer than five held-out tasks confirm no gain: that is under twelve tasks", async (t) => {
  const warned = (heldOut: number) =>
    listWarnings({ ...sources, split: toSplit(tasksFrom(0, 7), tasksFrom(7, 7 + heldOut)) });
  t.same(warned(4), [{ kind: "too-few-to-confirm", heldOutTasks: 4, neededTasks: 5 }]);
  t.same(warned(5), []);
});

t.test("by cost fewer than seven confirm none: that is under seventeen tasks", async (t) => {
  const warned = (heldOut: number) =>
    listWarnings({ ...sources, objective: "cost", split: toSplit(tasksFrom(0, 10), tasksFrom(10, 10 + heldOut)) });
  t.same(warned(6), [{ kind: "too-few-to-confirm", heldOutTasks: 6, neededTasks: 7 }]);
  t.same(warned(7), []);
  t.same([16, 17].map(countHeldOut), [6, 7]);
});

t.test("a judge without a model that judges", async (t) => {
  t.same(listWarnings({ ...sources, lacksModel: true }), [{ kind: "judging-not-set-up" }]);
});

t.test("a ceiling in a currency that no run of the set cost", async (t) => {
  const toSpent = (...spent: readonly (string | null)[]) => {
    const entries = tasksFrom(0, 20, null).map((entry, n) => {
      const currency = spent[n] ?? null;
      return { ...entry, spent: currency === null ? null : { amount: 1, currency } };
    });
    return listWarnings({ ...sources, split: toSplit(entries.slice(0, 12), entries.slice(12)) });
  };
  t.same(toSpent("USD", null, "GBP"), [{ kind: "other-currency" }]);
  t.same(toSpent("USD", "EUR"), [], "one is known");
  t.same(toSpent(), [], "none is");
});
