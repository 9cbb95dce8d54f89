import fc from "fast-check";
import t from "tap";
import { RunQueue } from "../../../actors/runners/run-queue.js";
import { isOlder, type QueuedRow, toLineKey } from "../../../actors/runners/run-queue.table.js";
import type { QueuedRun } from "../../../actors/runners/runner.table.js";
import { toPlacement } from "./placing.js";

const nothing = {
  runners: [],
  pools: [],
  claims: [],
  lanes: [],
  defaultPoolId: null,
  maxRuns: null,
  besideWorkPercent: 50,
};
const needs = { poolId: null, labels: ["gpu"], harness: "command" };
const key = toLineKey(needs);
const run = (n: number): QueuedRun => ({ ...needs, runId: `run_${n}`, queuedAtMs: Math.floor(n / 3) });

function inOrder(runs: readonly QueuedRun[]): QueuedRun[] {
  return [...runs].sort((left, right) => (isOlder(left, right) ? -1 : 1));
}

/**
 * Returns a queue with one line, and functions that change it. As the dispatcher does, they write rows before they
 * update the queue.
 */
function findLine(count: number) {
  let rows = inOrder(Array.from({ length: count }, (_, n) => run(n)));
  let read = 0;
  const queue = new RunQueue(toPlacement(nothing), count > 0 ? [needs] : []);
  const oldestRuns = (_line: string, limit: number) => {
    read += 1;
    return rows.slice(0, limit);
  };
  return {
    queue,
    oldest: () => rows[0]?.runId,
    reads: () => read,
    add(added: QueuedRun) {
      rows = inOrder([...rows.filter(({ runId }) => runId !== added.runId), added]);
      queue.add(key, added);
    },
    remove(removed: QueuedRun) {
      rows = rows.filter(({ runId }) => runId !== removed.runId);
      return queue.remove(key, removed, oldestRuns);
    },
    first(): string | undefined {
      for (const line of queue.all()) return queue.first(line, oldestRuns)?.runId;
      return undefined;
    },
  };
}

const step = fc.record({ n: fc.nat(400), isRemoved: fc.boolean() });

t.test("the first of a line is its oldest run, after any changes, in memory or only in rows", async () => {
  fc.assert(
    fc.property(fc.nat(300), fc.array(step, { maxLength: 60 }), (count, steps) => {
      const line = findLine(count);
      return steps.every(({ n, isRemoved }) => {
        if (isRemoved) line.remove(run(n));
        else line.add(run(n));
        return line.first() === line.oldest();
      });
    }),
    { numRuns: 300 },
  );
});

/** Removes the first run from the queue, this many times. Returns the ids of the removed runs. */
function drain(line: ReturnType<typeof findLine>, count: number): (string | undefined)[] {
  return Array.from({ length: count }, () => {
    const first = line.first();
    if (first !== undefined) line.remove(run(Number(first.slice(4))));
    return first;
  });
}

t.test("removing all runs one by one empties the line, and rows are read in slices", async (t) => {
  const line = findLine(1_000);
  const all = inOrder(Array.from({ length: 1_000 }, (_, n) => run(n)));
  t.same(
    drain(line, 1_000),
    all.map(({ runId }) => runId),
  );
  t.notOk(line.queue.has(key), "the line is gone with its last run");
  t.ok(line.reads() < 50, `${line.reads()} reads`);
});

t.test("a long line holds a limited number of runs in memory, and none is lost", async (t) => {
  const line = findLine(0);
  const all = inOrder(Array.from({ length: 500 }, (_, n) => run(n)));
  for (const one of all) line.add(one);
  for (const { oldest } of line.queue.all()) t.ok(oldest.length < 200, `${oldest.length} are held`);
  t.same(
    drain(line, 500),
    all.map(({ runId }) => runId),
  );
  t.notOk(line.queue.has(key));
});

t.test("a lane is empty when none of its lines is left", async (t) => {
  const placement = toPlacement(nothing);
  const queue = new RunQueue(placement, []);
  const replayed = { ...run(1), lane: "replay:a" };
  t.not(toLineKey(replayed), key, "the same needs in another lane are another line");
  queue.add(key, run(1));
  queue.add(toLineKey(replayed), replayed);
  t.notOk(queue.isLaneEmpty("replay:a"));
  queue.remove(toLineKey(replayed), replayed, () => []);
  t.ok(queue.isLaneEmpty("replay:a"));
  t.notOk(queue.isLaneEmpty("work"));
});

/**
 * A step of the test: either a run arrives after `afterMs`, or the first run is placed. `afterMs` is negative if the
 * clock was ahead and was corrected. If `isRestarted`, the process restarts before the step.
 */
const happening = fc.record({
  afterMs: fc.oneof(fc.nat(3), fc.integer({ min: -5_000, max: 5_000 })),
  isPlaced: fc.boolean(),
  isRestarted: fc.boolean(),
});

t.test("runs are first in the order in which they came, whatever the clock says, after any restarts", async () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const rows: QueuedRow[] = [];
      let queue = new RunQueue(toPlacement(nothing), []);
      let nowMs = 0;
      return happenings.every(({ afterMs, isPlaced, isRestarted }, n) => {
        const youngest = inOrder(rows).at(-1);
        if (isRestarted) queue = new RunQueue(toPlacement(nothing), rows.length > 0 ? [needs] : [], youngest);
        if (isPlaced) {
          const placed = rows.shift();
          if (placed !== undefined) queue.remove(key, placed, (_line, limit) => inOrder(rows).slice(0, limit));
        } else {
          nowMs += afterMs;
          const row = {
            ...needs,
            runId: `run_${String(n).padStart(2, "0")}`,
            queuedAtMs: nowMs,
            era: queue.eraAt(nowMs),
          };
          rows.push(row);
          queue.add(key, row);
        }
        const [line] = queue.all();
        const first = line && queue.first(line, (_line, limit) => inOrder(rows).slice(0, limit));
        return first?.runId === rows[0]?.runId && inOrder(rows).every((row, at) => row === rows[at]);
      });
    }),
    { numRuns: 300 },
  );
});
