import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { taskOutcomes } from "../../../../actors/run-facts/run-outcome.table.js";
import { countHeldOut, type SplitEntry, splitTasks } from "../../../../actors/searches/rules/split.js";

const toEntry = (task: number, outcome: SplitEntry["outcome"] = "accepted", run = 0): SplitEntry => ({
  runId: `run-${task}-${run}`,
  taskId: `task-${task}`,
  outcome,
});

const collectEntries = (tasks: number, outcome?: SplitEntry["outcome"]) =>
  Array.from({ length: tasks }, (_, task) => toEntry(task, outcome));

const heldOutTasks = (setId: string, entries: readonly SplitEntry[]) =>
  [...new Set(splitTasks(setId, entries)?.heldOut.map(({ taskId }) => taskId))].sort();

t.test("two of five tasks are held out, at least two, while three stay searched", async (t) => {
  t.same([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 50].map(countHeldOut), [null, null, 2, 2, 3, 3, 4, 4, 4, 5, 8, 20]);
  t.equal(splitTasks("set", collectEntries(4)), null);
});

t.test("two runs of one task stay together, in the order of the set", async (t) => {
  const entries = [...collectEntries(6), ...Array.from({ length: 6 }, (_, task) => toEntry(task, "failed", 1))];
  const split = splitTasks("set", entries);
  t.same([split?.searchedTasks, split?.heldOutTasks, split?.searched.length, split?.heldOut.length], [4, 2, 8, 4]);
  const order = (runs: readonly SplitEntry[] = []) => runs.map((run) => entries.indexOf(run));
  for (const places of [order(split?.searched), order(split?.heldOut)]) {
    t.same(
      places,
      [...places].sort((a, b) => a - b),
    );
  }
});

t.test("a task belongs to the outcome of most of its runs, of as many to the first in their order", async (t) => {
  const asFailed = collectEntries(10).map(
    (entry, n) => ({ ...entry, outcome: n < 5 ? "failed" : "accepted" }) as const,
  );
  const again = (outcome: SplitEntry["outcome"]) => Array.from({ length: 5 }, (_, task) => toEntry(task, outcome, 1));
  const mostly = asFailed.flatMap((entry, n) =>
    n < 5 ? [entry, toEntry(n, "failed", 2), toEntry(n, "asked", 3)] : entry,
  );
  t.same(heldOutTasks("set-1", mostly), heldOutTasks("set-1", asFailed));
  for (let set = 0; set < 20; set++) {
    const held = heldOutTasks(`set-${set}`, [...asFailed, ...again("asked")]);
    const asAsked = asFailed.map((entry, n) => ({ ...entry, outcome: n < 5 ? "asked" : "accepted" }) as const);
    t.same(held, heldOutTasks(`set-${set}`, asAsked));
    t.equal(held.filter((taskId) => Number(taskId.slice("task-".length)) < 5).length, 2);
  }
  const even = asFailed.map((entry, n) => (n < 5 ? toEntry(n, "accepted") : entry));
  t.same(heldOutTasks("set-1", [...even, ...again("failed")]), heldOutTasks("set-1", collectEntries(10)));
});

t.test("another set holds out other tasks, the same set always the same", async (t) => {
  t.same(heldOutTasks("set-1", collectEntries(20)), heldOutTasks("set-1", collectEntries(20).reverse()));
  t.not(heldOutTasks("set-1", collectEntries(20)).join(), heldOutTasks("set-2", collectEntries(20)).join());
  t.same(heldOutTasks("set-1", collectEntries(6)), ["task-4", "task-5"], "written down: a release does not change it");
});

t.test("a task is held out as often as each other, over many sets", async (t) => {
  const entries = collectEntries(10).map((entry, n) => ({ ...entry, outcome: n < 5 ? "accepted" : "failed" }) as const);
  const times = new Map<string, number>();
  for (let n = 0; n < 2_000; n++) {
    for (const taskId of heldOutTasks(`set-${n}`, entries)) times.set(taskId, (times.get(taskId) ?? 0) + 1);
  }
  for (const count of times.values()) t.ok(count > 700 && count < 900, `${count} of 2,000`);
});

const someEntries = fc
  .array(fc.tuple(fc.nat(30), fc.constantFrom(...taskOutcomes)), { minLength: 5, maxLength: 50 })
  .map((runs) => runs.map(([task, outcome], run) => toEntry(task, outcome, run)));

t.test("every run is on one side; each outcome has its part held out, rounded up or down", async () => {
  fc.assert(
    fc.property(fc.uuid(), someEntries, (setId, entries) => {
      const tasks = new Set(entries.map(({ taskId }) => taskId)).size;
      const split = splitTasks(setId, entries);
      assert.equal(split === null, tasks < 5);
      if (split === null) return;
      assert.deepEqual(new Set([...split.searched, ...split.heldOut]), new Set(entries));
      const searched = new Set(split.searched.map(({ taskId }) => taskId));
      assert.equal(searched.size, split.searchedTasks);
      assert.ok(split.heldOut.every(({ taskId }) => !searched.has(taskId)));
      assert.equal(split.searchedTasks + split.heldOutTasks, tasks);
    }),
  );
  const ofOneRun = fc.array(fc.constantFrom(...taskOutcomes), { minLength: 5, maxLength: 50 });
  fc.assert(
    fc.property(fc.uuid(), ofOneRun, (setId, outcomes) => {
      const entries = outcomes.map((outcome, task) => toEntry(task, outcome));
      const split = splitTasks(setId, entries);
      for (const outcome of taskOutcomes) {
        const all = entries.filter((entry) => entry.outcome === outcome).length;
        const held = split?.heldOut.filter((entry) => entry.outcome === outcome).length ?? 0;
        const part = ((split?.heldOutTasks ?? 0) * all) / entries.length;
        assert.ok(Math.abs(held - part) < 1, `${held} of ${all} ${outcome}, ${part}`);
      }
    }),
  );
});

t.test("one more task moves at most one other of each outcome", async () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.array(fc.constantFrom(...taskOutcomes), { minLength: 6, maxLength: 50 }),
      (setId, all) => {
        const entries = all.map((outcome, task) => toEntry(task, outcome));
        const before = new Set(heldOutTasks(setId, entries.slice(1)));
        const after = new Set(heldOutTasks(setId, entries));
        for (const outcome of taskOutcomes) {
          const moved = entries
            .slice(1)
            .filter((entry) => entry.outcome === outcome && before.has(entry.taskId) !== after.has(entry.taskId));
          assert.ok(moved.length <= 1, `${moved.length} of ${outcome}`);
        }
      },
    ),
  );
});
