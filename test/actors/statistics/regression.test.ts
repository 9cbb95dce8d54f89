import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { findRegressions, hasRegressed } from "../../../actors/statistics/regression.js";
import { settledCopies, shuffled, someCopies } from "./arbitrary-copies.js";
import { listCopies } from "./copies.js";
import { simulateCopies } from "./simulated-copies.js";
import { slowRegressed, slowShares, WHOLE } from "./slow-reading.js";

const regressed = (candidate: string, baseline: string) =>
  hasRegressed(listCopies({ a: candidate }), listCopies({ a: baseline }));

t.test(
  "a task regressed when all its baseline's scored copies succeeded and fewer than half of the candidate's",
  async (t) => {
    const cases: readonly (readonly [candidate: string, baseline: string, regressed: boolean])[] = [
      ["-", "+", true],
      ["+", "+", false],
      ["-", "-", false],
      ["+--", "+++", true],
      ["++-", "+++", false],
      ["+-", "++", false],
      ["--", "+-", false],
      ["---", "++-", false],
      ["++---", "+++++", true],
      ["-?", "+?", true],
      ["+-?", "+", false],
      ["?", "+", false],
      ["-", "?", false],
      ["-", "", false],
      ["--.", "+++", false],
      ["---", "++.", false],
    ];
    t.same(
      cases.filter(([candidate, baseline, wanted]) => regressed(candidate, baseline) !== wanted),
      [],
    );
  },
);

t.test("the tasks that regressed are those of a slow reading, in any order of copies", async () => {
  const runs = ["a/1", "a/2", "b/1", "b/2", "c/1", "d/1", "e/1"];
  const either = fc.oneof(someCopies, settledCopies);
  fc.assert(
    fc.property(shuffled(either), shuffled(either), ([own, ownToo], [other, otherToo]) => {
      const found = findRegressions(own, other, runs);
      assert.deepEqual(findRegressions(ownToo, otherToo, runs), found);
      assert.deepEqual(found.map(({ taskId }) => taskId).sort(), slowRegressed(own, other));
      const [after, before] = [slowShares(own), slowShares(other)];
      for (const { taskId, scoreDelta } of found) {
        assert.equal(scoreDelta, ((after[taskId] ?? 0) - (before[taskId] ?? 0)) / WHOLE);
      }
    }),
    { numRuns: 300 },
  );
});

t.test("a regression names the run with the largest loss, of equal ones the earlier in the set", async (t) => {
  const candidate = listCopies({ "a/3": "--", "a/1": "+-", "a/2": "--", "b/2": "?", "b/1": "-" });
  const baseline = listCopies({ "a/1": "++", "a/2": "++", "a/3": "++", "b/1": "?", "b/2": "+" });
  const named = (runs: readonly string[]) =>
    findRegressions(candidate, baseline, runs).map((each) => each.originalRunId);
  t.same(named(["a/1", "a/2", "a/3", "b/1", "b/2"]), ["b/1", "a/2"], "no run of b was scored on both sides");
  t.same(named(["a/3", "b/2", "a/2", "a/1", "b/1"]), ["b/2", "a/3"]);
});

t.test("regressions are in order of their loss, then of task; copies in order of run, then of copy", async (t) => {
  const candidate = listCopies({ "c/2": "--", "c/1": "--", b: "+--", a: "+--" });
  const found = findRegressions([...candidate].reverse(), listCopies({ "c/1": "+", "c/2": "+", b: "+", a: "+" }), [
    "c/1",
    "c/2",
  ]);
  t.same(
    found.map(({ taskId, scoreDelta }) => [taskId, scoreDelta]),
    [
      ["c", -1],
      ["a", -2 / 3],
      ["b", -2 / 3],
    ],
  );
  t.same(
    found[0]?.candidate.map(({ originalRunId, repeat }) => [originalRunId, repeat]),
    [
      ["c/1", 1],
      ["c/1", 2],
      ["c/2", 1],
      ["c/2", 2],
    ],
  );
});

/** Twenty tasks: eight that nearly never succeed, five that seldom do, and seven that nearly always do. */
const rates = [0.01, 0.15, 0.95].flatMap((rate, kind) => Array.from({ length: [8, 5, 7][kind] ?? 0 }, () => rate));

t.test("of checks of 20 tasks that change nothing, few fail at three and five copies, most at one", async (t) => {
  const replay = simulateCopies(3);
  const runs = rates.map((_, task) => `r${task}`);
  const failed = (repeats: number, fails: (own: Copies, other: Copies) => boolean): number => {
    const checks = Array.from({ length: 3_000 }, () => fails(replay(rates, repeats), replay(rates, repeats)));
    return (100 * checks.filter(Boolean).length) / checks.length;
  };
  const byRule = (own: Copies, other: Copies): boolean => findRegressions(own, other, runs).length > 0;
  const byAnyDrop = (own: Copies, other: Copies): boolean => {
    const before = slowShares(other);
    return Object.entries(slowShares(own)).some(([taskId, share]) => share < (before[taskId] ?? 0));
  };
  const isNear = (percent: number, wanted: number, within: number) =>
    t.ok(Math.abs(percent - wanted) <= within, `${percent} % for ${wanted} %`);
  isNear(failed(3, byAnyDrop), 93, 1.5);
  isNear(failed(3, byRule), 6, 1.2);
  isNear(failed(5, byRule), 0.7, 0.5);
  isNear(failed(1, byRule), 67, 2.5);
});

type Copies = ReturnType<ReturnType<typeof simulateCopies>>;
