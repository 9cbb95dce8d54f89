import t from "tap";
import {
  countRuns,
  type EstimateSources,
  isCeilingTooLow,
  splitDearest,
  toEstimate,
} from "../../../../actors/searches/rules/estimate.js";
import { defaultObjective } from "../../../../actors/searches/rules/objective.js";
import { saturation } from "../../../../actors/statistics/success.js";
import { listTasks } from "../../statistics/copies.js";
import { unmeasured } from "./health.js";
import { costed, euro } from "./snapshots.js";

const entries = [5, 1, 4, 2, 3].map((cost, n) => ({ ...costed(`t${n}`, cost), ms: cost * 1_000 }));

const sources: EstimateSources = {
  entries,
  minGain: 0.05,
  objective: "success",
  health: unmeasured,
  lacksModel: false,
  budget: { iterations: 2, perIteration: 3, repeats: 2, concurrency: 4, ceiling: euro(144) },
};

t.test("the tasks whose runs cost most are taken to be held out, of equal ones by their ids", async (t) => {
  t.same(
    splitDearest(entries, "EUR")?.heldOut.map(({ taskId }) => taskId),
    ["t0", "t2"],
  );
  const equal = entries.map((entry) => ({ ...entry, spent: null }));
  t.same(
    splitDearest(equal, "EUR")?.heldOut.map(({ taskId }) => taskId),
    ["t0", "t1"],
  );
  // The second run of t1 makes it the most expensive task.
  const more = { ...costed("t1", 5), runId: "again", ms: null };
  t.same(
    splitDearest([...entries, more], "EUR")?.heldOut.map(({ runId }) => runId),
    ["run-t0", "run-t1", "again"],
  );
  t.equal(splitDearest(entries.slice(1), "EUR"), null);
});

t.test("an estimate counts the most runs, allots the ceiling and adds up the times", async (t) => {
  // With two repeats, the seed costs 30, 6 search replays cost 12 each, 3 held-out replays 18 each, and 2 agent runs 9
  // each: 174.
  const budget = { ...sources.budget, ceiling: euro(174) };
  t.same(toEstimate({ ...sources, budget }), {
    searchedTasks: 3,
    heldOutTasks: 2,
    ceiling: euro(174),
    minGain: 0.05,
    objective: "success",
    runs: { seed: 10, searchReplays: 36, heldOutReplays: 12, agent: 2, total: 60 },
    perReplayAllotments: { seed: euro(30), searchReplay: euro(12), heldOutReplay: euro(18), agentRun: euro(9) },
    // The seed takes 30/4 s. Each of two iterations takes 9 s for the agent and 3 x 12/4 s for replays. The held-out
    // replays take 3 x 18/4 s.
    estimatedDuration: 7_500 + 2 * (9_000 + 9_000) + 13_500,
    warnings: [{ kind: "noise-unmeasured" }, { kind: "too-few-to-confirm", heldOutTasks: 2, neededTasks: 5 }],
  });
  t.equal(toEstimate({ ...sources, entries: entries.slice(1) }), null);
});

t.test("a run that was not timed takes as long as the others on average; none is timed: it is not known", async (t) => {
  const timed = (ms: readonly (number | null)[]) =>
    toEstimate({
      ...sources,
      budget: { ...sources.budget, iterations: 1, perIteration: 1, repeats: 1, concurrency: 1 },
      entries: entries.map((entry, n) => ({ ...entry, ms: ms[n] ?? null })),
    })?.estimatedDuration;
  t.equal(timed([]), null);
  // Every run takes 10 ms: the seed takes 50, the agent 30, the search replay 30, and the held-out replay 20.
  t.equal(timed([null, 10, null, null, null]), 130);
  t.equal(timed([10, 10, 10, 10, 11]), 51 + 31 + 31 + 20, "10.2 on average: 30.6 is rounded up with the sum");
  const hour = 60 * 60 * 1_000;
  t.equal(timed([hour, hour, hour, hour, hour]), (5 + 1 + 3 + 2) * hour, "an agent runs an hour at most");
});

t.test("however many run at once, a replay takes as long as its longest run", async (t) => {
  const budget = { ...sources.budget, iterations: 1, perIteration: 1, repeats: 1, concurrency: 10 };
  t.equal(toEstimate({ ...sources, budget })?.estimatedDuration, 5_000 + 9_000 + 3_000 + 5_000);
});

t.test("a ceiling is too low under 0.01 for each run of a replay, the agent's runs aside", async (t) => {
  const split = splitDearest(entries, "EUR");
  if (split === null) return t.fail("it has tasks enough");
  const runs = countRuns(sources.budget, split);
  t.equal(runs.total - runs.agent, 58);
  t.notOk(isCeilingTooLow(euro(0.58), runs));
  t.ok(isCeilingTooLow(euro(0.579999), runs));
  t.notOk(isCeilingTooLow(euro(0.29), { ...runs, seed: 29, searchReplays: 0, heldOutReplays: 0 }));
});

t.test("the objective is cost when the live config succeeds on more than 95 % of the set", async (t) => {
  const health = (succeeded: number) => {
    const copies = [...listTasks(succeeded, "+"), ...listTasks(20 - succeeded, "-", "f")];
    const found = saturation(copies);
    if (found === null) throw new Error("nothing is scored");
    return { saturation: { replayId: "r", measuredAt: null, tasks: 20, few: false, ...found } };
  };
  t.equal(defaultObjective(health(19)), "success", "exactly 95 %");
  t.equal(defaultObjective(health(20)), "cost");
  t.equal(defaultObjective({ saturation: null }), "success");
});
