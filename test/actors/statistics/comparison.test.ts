import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import {
  compareTasks,
  type MeasuredCopy,
  type PairOutcome,
  pairOfTask,
  tallyPairs,
} from "../../../actors/statistics/comparison.js";
import { someCopies } from "./arbitrary-copies.js";
import { listCopies } from "./copies.js";
import { slowRegressed, slowShares, WHOLE } from "./slow-reading.js";

const dollars = (amount: number) => ({ amount, currency: "USD" });

/** Returns copies with these results, and one set of measures per copy, in order. */
function measured(runs: Readonly<Record<string, string>>, measures: readonly Partial<MeasuredCopy>[]) {
  return listCopies(runs).map((copy, index) => ({ ...copy, ...measures[index] }));
}

const inEach = (copies: readonly MeasuredCopy[], more: Partial<MeasuredCopy>) =>
  copies.map((copy) => ({ ...copy, ...more }));

t.test("a row has a task's copies on both sides, their success and the deltas of their means", async (t) => {
  const own = measured({ a: "+-" }, [
    { spent: dollars(0.1), ms: 1_000, steps: 3 },
    { spent: dollars(0.2), ms: 2_000, steps: 4 },
  ]);
  const other = measured({ a: "+++" }, [
    { spent: dollars(0.1), ms: 500, steps: 5 },
    { spent: dollars(0.1), ms: 500, steps: 5 },
    { spent: dollars(0.1), ms: 501, steps: 6 },
  ]);
  t.same(compareTasks(own, other, ["a"]), [
    {
      taskId: "a",
      candidate: own,
      baseline: other,
      candidateSuccess: 0.5,
      baselineSuccess: 1,
      costDelta: 0.05,
      msDelta: 2_999 / 3,
      stepsDelta: -11 / 6,
      regressed: false,
      pair: null,
    },
  ]);
});

t.test("deltas wait until every copy of both sides has settled, and need every copy's measure", async (t) => {
  const known = { spent: dollars(1), ms: 10, steps: 2 };
  const side = (results: string, more: Partial<MeasuredCopy> = {}) => {
    const copies = inEach(listCopies({ a: results }), known);
    return copies.map((copy, index) => (index === 1 ? { ...copy, ...more } : copy));
  };
  const deltas = (own: readonly MeasuredCopy[], other: readonly MeasuredCopy[]) => {
    const [row] = compareTasks(own, other, ["a"]);
    return [row?.costDelta, row?.msDelta, row?.stepsDelta];
  };
  t.same(deltas(side("+-"), side("+?")), [0, 0, 0]);
  t.same(deltas(side("+."), side("+-")), [null, null, null]);
  t.same(deltas(side("+-"), side("+.")), [null, null, null]);
  t.same(deltas(side("+-"), []), [null, null, null]);
  t.same(deltas(side("+-", { ms: null }), side("+-", { steps: null })), [0, null, null]);
  t.same(deltas(side("+-", { priced: false }), side("+-")), [null, 0, 0]);
  t.same(deltas(side("+-", { spent: { amount: 1, currency: "EUR" } }), side("+-")), [null, 0, 0]);
  t.same(deltas(side("+-", { spent: null }), side("+-")), [-0.5, 0, 0], "an agent that never began cost nothing");
});

t.test("rows are regressed first, then by pair, then by success gained, then by task", async (t) => {
  const own = [
    ...inEach(listCopies({ "09": "+" }), { pairOutcome: "win" }),
    ...inEach(listCopies({ "08": "+++-" }), { pairOutcome: "tie" }),
    ...listCopies({ "07": "?", "06": "++--", "05": "+---", "04": "+---" }),
    ...inEach(listCopies({ "03": "+" }), { pairOutcome: "loss" }),
    ...inEach(listCopies({ "02": "-" }), { pairOutcome: "win" }),
    ...inEach(listCopies({ "01": "-" }), { pairOutcome: "loss" }),
    ...inEach(listCopies({ "00": "-" }), { pairOutcome: null }),
  ];
  const before = listCopies({
    "09": "+",
    "08": "+-",
    "07": "+",
    "06": "+-",
    "05": "+-",
    "04": "+-",
    "03": "+",
    "02": "+",
    "01": "+",
  });
  const rows = compareTasks([...own].reverse(), before, []);
  t.same(
    rows.map(({ taskId }) => taskId),
    ["01", "02", "03", "04", "05", "06", "08", "00", "07", "09"],
  );
  t.same(
    rows.filter(({ regressed }) => regressed).map(({ taskId }) => taskId),
    ["01", "02"],
  );
  t.equal(rows.find(({ taskId }) => taskId === "00")?.baselineSuccess, null);
});

t.test("copies are in order of their run in the set, then of copy", async (t) => {
  const own = listCopies({ "a/2": "++", "a/1": "+" });
  const [row] = compareTasks([...own].reverse(), [...own].reverse(), ["a/1", "b", "a/2"]);
  const order = (copies: readonly MeasuredCopy[] = []) =>
    copies.map(({ originalRunId, repeat }) => `${originalRunId} ${repeat}`);
  t.same(order(row?.candidate), ["a/1 1", "a/2 1", "a/2 2"]);
  t.same(order(row?.baseline), ["a/1 1", "a/2 1", "a/2 2"]);
});

t.test("rows have the success and the regressions of a slow reading, one for each task of the candidate", async () => {
  fc.assert(
    fc.property(someCopies, someCopies, (own, other) => {
      const rows = compareTasks(own, other, ["b/2", "a/1", "c/1"]);
      const [after, before] = [slowShares(own), slowShares(other)];
      const findShare = (share: number | undefined) => (share === undefined ? null : share / WHOLE);
      assert.deepEqual(rows.map(({ taskId }) => taskId).sort(), [...new Set(own.map(({ taskId }) => taskId))].sort());
      for (const { taskId, candidateSuccess, baselineSuccess } of rows) {
        assert.deepEqual([candidateSuccess, baselineSuccess], [findShare(after[taskId]), findShare(before[taskId])]);
      }
      const regressed = rows.filter((row) => row.regressed).map(({ taskId }) => taskId);
      assert.deepEqual([...regressed].sort(), slowRegressed(own, other));
      assert.deepEqual(
        rows.slice(0, regressed.length).map(({ taskId }) => taskId),
        regressed,
      );
    }),
  );
});

t.test("a task's pair is what more than half of its compared copies are, else a tie", async (t) => {
  const copies = (...outcomes: (PairOutcome | null)[]) =>
    outcomes.flatMap((pairOutcome, index) => inEach(listCopies({ a: "+" }), { pairOutcome, repeat: index + 1 }));
  const cases: readonly (readonly [readonly MeasuredCopy[], PairOutcome | null])[] = [
    [copies(), null],
    [copies(null, null), null],
    [copies("win", null), "win"],
    [copies("win", "loss"), "tie"],
    [copies("win", "win", "loss"), "win"],
    [copies("win", "tie", "loss"), "tie"],
    [copies("win", "win", "loss", "tie"), "tie"],
    [copies("loss", "loss", "loss", "win", "tie"), "loss"],
    [copies("tie", "tie", "win"), "tie"],
    [copies("win", "tie"), "tie"],
    [copies("loss", "loss", "tie"), "loss"],
  ];
  t.same(
    cases.map(([given]) => pairOfTask(given)),
    cases.map(([, wanted]) => wanted),
  );
  const flipped = { win: "loss", loss: "win", tie: "tie" } as const;
  fc.assert(
    fc.property(fc.array(fc.constantFrom<PairOutcome>("win", "loss", "tie")), (outcomes) => {
      const pair = pairOfTask(copies(...outcomes));
      const mirrored = pairOfTask(copies(...outcomes.map((one) => flipped[one])));
      return mirrored === (pair === null ? null : flipped[pair]);
    }),
    { examples: [[[]]] },
  );
});

t.test("a tally counts tasks, not copies, and leaves out those that were not compared", async (t) => {
  const copies = [
    ...inEach(listCopies({ a: "+++" }), { pairOutcome: "win" }),
    ...inEach(listCopies({ b: "+", c: "+" }), { pairOutcome: "loss" }),
    ...inEach(listCopies({ d: "+" }), { pairOutcome: "tie" }),
    ...listCopies({ e: "+" }),
  ];
  t.same(tallyPairs(copies), { wins: 1, losses: 2, ties: 1 });
});
