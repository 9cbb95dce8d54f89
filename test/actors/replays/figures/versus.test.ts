import t from "tap";
import { compareByTask, compareSides, findCounterpart, type Side } from "../../../../actors/replays/figures/versus.js";
import type { Copy } from "../../../../actors/statistics/copy.js";
import { listCopies, listTasks } from "../../statistics/copies.js";

function side(id: string, copies: readonly Copy[], scoringFingerprint = "s"): Side {
  return { id, copies, scoringFingerprint, repeats: Math.max(...copies.map(({ repeat }) => repeat)) };
}

t.test("a replay is compared with its pair, else the live replay it answers, else the baseline", async (t) => {
  const plain = { id: "own", pairedWith: null, answers: null };
  t.equal(findCounterpart({ ...plain, pairedWith: "paired", answers: "live" }, "base"), "paired");
  t.equal(findCounterpart({ ...plain, answers: "live" }, "base"), "live");
  t.equal(findCounterpart(plain, "base"), "base");
  t.equal(findCounterpart(plain, "own"), null, "the baseline itself");
  t.equal(findCounterpart(plain, null), null, "no baseline");
});

t.test("success of the other side is that on the tasks that both scored", async (t) => {
  const own = side("own", listCopies({ a: "++", b: "+-", c: "??" }));
  const other = side("other", listCopies({ a: "--", b: "+-", c: "++" }));
  const { comparedWith, againstBaseline } = compareSides(own, other, { minGain: 0.05, live: [] });
  t.match(comparedWith, { replayId: "other", successRate: 0.25, tasks: 2, few: true, interval: { rate: 0.25 } });
  t.match(againstBaseline, { gain: 0.5, tasks: 2, few: true, otherScoring: false, minGain: 0.05 });
});

t.test("without a task that both scored there is no figure", async (t) => {
  const own = side("own", listCopies({ a: "..", b: "+-" }));
  const other = side("other", listCopies({ a: "++", b: "??" }));
  t.same(compareSides(own, other, { minGain: 0.05, live: other.copies }), {
    comparedWith: { replayId: "other", successRate: null, interval: null, tasks: 0, few: true },
    againstBaseline: null,
    detectableGain: null,
  });
});

t.test("only runs that both replay count", async (t) => {
  const own = listCopies({ "a/1": "--", "a/2": "++", b: "+" });
  const other = listCopies({ "a/1": "--", c: "+" });
  const { againstBaseline } = compareSides(side("own", own), side("other", other), { minGain: 0, live: [] });
  t.match(againstBaseline, { gain: 0, tasks: 1 });
  t.match(compareByTask(own, other), [
    { taskId: "a", candidateSuccess: 0, candidateScored: 2, baselineScored: 2, candidate: { length: 2 } },
    { taskId: "b", candidateSuccess: 1, candidateScored: 1, baselineScored: 0, baseline: { length: 0 } },
  ]);
});

t.test("a gain under another scoring says so", async (t) => {
  const copies = listTasks(6, "+-");
  const other = side("other", copies, "another");
  const { againstBaseline } = compareSides(side("own", copies), other, { minGain: 0.05, live: copies });
  t.match(againstBaseline, { otherScoring: true, few: false, verdict: "within-noise" });
});

t.test("the gain that can be detected is of the tasks that both scored and the copies of each side", async (t) => {
  const copies = listTasks(8, "+-");
  const { detectableGain } = compareSides(side("own", copies), side("other", copies), { minGain: 0.05, live: copies });
  // Each task has two copies per side. Per task and side, the copies' variance is 1/2.
  t.equal(detectableGain, 1.96 * Math.sqrt((0.5 * (1 / 2 + 1 / 2)) / 8));
  const few = listTasks(4, "+-");
  t.equal(compareSides(side("own", few), side("other", few), { minGain: 0.05, live: few }).detectableGain, null);
});

t.test("rows have regressions first, and how many copies a share is of", async (t) => {
  const own = listCopies({ a: "++", b: "--", c: "+?" });
  const other = listCopies({ a: "--", b: "++", c: "++" });
  t.match(compareByTask(own, other), [
    { taskId: "b", regressed: true, candidateSuccess: 0, candidateScored: 2, baselineSuccess: 1, baselineScored: 2 },
    { taskId: "c", regressed: false, candidateScored: 1 },
    { taskId: "a", regressed: false },
  ]);
  t.match(compareByTask(own, []), [{ baseline: [], baselineSuccess: null, baselineScored: 0 }, {}, {}]);
});
