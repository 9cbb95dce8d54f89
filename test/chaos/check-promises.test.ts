import t from "tap";
import { type AroundCheck, type FoundCheck, listBrokenCheck } from "./check-promises.js";

const copies = (...results: readonly (string | null)[]) =>
  results.map((result, at) => ({ taskId: `task_${Math.floor(at / 2)}`, result }));
const check: FoundCheck = {
  id: "check_1",
  verdict: "failed",
  undecidedBecause: null,
  tasks: 2,
  compared: 2,
  threshold: { mostRegressions: 0 },
  regressions: [{ taskId: "task_0" }],
};
const around: AroundCheck = {
  candidate: copies("failed", "failed", "succeeded", "succeeded"),
  baseline: copies("succeeded", "unscored", "succeeded", "failed"),
  verdicts: ["running", "failed", "failed"],
  listed: ["check_1"],
};

t.test("nothing is broken when every promise is kept", async (t) => {
  t.same(listBrokenCheck(check, around), []);
});

t.test("each promise can be broken", async (t) => {
  const broken = (of: Partial<FoundCheck>, seen: Partial<AroundCheck> = {}) =>
    listBrokenCheck({ ...check, ...of }, { ...around, ...seen }).join();
  t.match(broken({ verdict: "passed" }), /is passed \(null\) with 1 tasks regressed/);
  t.match(broken({ threshold: { mostRegressions: 1 } }), /is failed/);
  t.match(broken({}, { candidate: copies("succeeded", "failed", "succeeded", "succeeded") }), /is failed/);
  t.match(broken({}, { baseline: copies("unscored", "unscored", "unscored", null) }), /is failed/);
  t.match(broken({ regressions: [{ taskId: "task_1" }] }), /tells of task_1, and task_0 regressed/);
  t.match(broken({ compared: 1 }), /tells of 1 of 2 tasks, not 2 of 2/);
  t.match(broken({}, { listed: ["check_1", "check_2"] }), /the set has the checks check_1,check_2/);
  t.match(broken({}, { verdicts: ["passed"] }), /was passed, then failed/);
  t.match(broken({}, { verdicts: ["failed", "running"] }), /ran again/);
});
