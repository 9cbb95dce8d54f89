import fc from "fast-check";
import t from "tap";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import type { ClaimRow, QueuedRun } from "../../../actors/runners/runner.table.js";
import { waitingReason as reasonOf } from "../../../actors/runners/waiting-reason.js";
import type { PlacementState } from "./naive-placement.js";
import { place, toPlacement } from "./placing.js";

const assignRuns = (runs: readonly QueuedRun[], state: PlacementState) => place(runs, toPlacement(state));
const waitingReason = (run: QueuedRun, state: PlacementState) => reasonOf(run, toPlacement(state));

/** Returns this many claims for each runner. */
function listClaims(held: ReadonlyMap<string, number>): ClaimRow[] {
  return [...held].flatMap(([runnerId, count]) =>
    Array.from({ length: count }, (_, n) => ({ runnerId, runId: `${runnerId}-${n}`, poolId: "" })),
  );
}

const noLanes = { lanes: [], besideWorkPercent: 50 };

const label = fc.constantFrom("gpu", "arm", "big");
const runner = fc.record({
  poolId: fc.constantFrom("pool_a", "pool_b", "pool_gone"),
  labels: fc.uniqueArray(label),
  harnesses: fc.subarray(["command", "other"]),
  slots: fc.integer({ min: 0, max: 3 }),
  connected: fc.boolean(),
});
const queued = fc.record({
  poolId: fc.constantFrom(null, "pool_a", "pool_b", "pool_gone"),
  labels: fc.uniqueArray(label, { maxLength: 2 }),
  harness: fc.constantFrom("command", "other"),
});
const scene = fc
  .record({
    runners: fc.array(runner, { maxLength: 5 }),
    queue: fc.array(queued, { maxLength: 8 }),
    concurrency: fc.option(fc.integer({ min: 1, max: 3 })),
    held: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 5, maxLength: 5 }),
    defaultPoolId: fc.constantFrom(null, "pool_a", "pool_b"),
    maxRuns: fc.option(fc.integer({ min: 1, max: 8 })),
  })
  .map(({ runners, queue, concurrency, held, defaultPoolId, maxRuns }) => {
    const rows: RunnerRow[] = runners.map((one, n) => ({ ...one, runnerId: `runner_${n}`, name: "", since: "" }));
    const counts = new Map(rows.map(({ runnerId }, n) => [runnerId, held[n] ?? 0]));
    const state: PlacementState = {
      runners: rows,
      pools: [
        { id: "pool_a", key: "a", labels: ["arm"], concurrency },
        { id: "pool_b", key: "b", labels: [], concurrency: null },
      ],
      claims: listClaims(counts),
      defaultPoolId,
      maxRuns,
      ...noLanes,
    };
    const runs: QueuedRun[] = queue.map((one, n) => ({ ...one, runId: `run_${n}`, queuedAtMs: n }));
    return { state, runs, counts };
  });

t.test("placement gives each run once, only to runners that fit, within slots and concurrency", async () => {
  fc.assert(
    fc.property(scene, ({ state, runs, counts }) => {
      const placed = assignRuns(runs, state);
      const held = new Map(counts);
      for (const { run, runner } of placed) {
        held.set(runner.runnerId, (held.get(runner.runnerId) ?? 0) + 1);
        const fits =
          runner.connected &&
          state.pools.some(({ id }) => id === runner.poolId) &&
          [null, runner.poolId].includes(run.poolId ?? state.defaultPoolId) &&
          run.labels.every(
            (wanted) => runner.labels.includes(wanted) || (wanted === "arm" && runner.poolId === "pool_a"),
          ) &&
          runner.harnesses.includes(run.harness) &&
          (held.get(runner.runnerId) ?? 0) <= runner.slots;
        if (!fits) return false;
      }
      for (const { id, concurrency } of state.pools) {
        const before = total(state, counts, id);
        const after = total(state, held, id);
        if (concurrency !== null && after > Math.max(before, concurrency)) return false;
      }
      const all = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (state.maxRuns !== null && all(held) > Math.max(all(counts), state.maxRuns)) return false;
      return new Set(placed.map(({ run }) => run.runId)).size === placed.length;
    }),
    { numRuns: 2_000 },
  );
});

t.test("a run that is not placed has a reason, and one that has a reason is not placed", async () => {
  fc.assert(
    fc.property(scene, ({ state, runs }) => {
      const [first] = runs;
      if (first === undefined) return true;
      const isPlaced = assignRuns([first], state).length === 1;
      return isPlaced === (waitingReason(first, state) === null);
    }),
    { numRuns: 2_000 },
  );
});

function total(state: PlacementState, held: ReadonlyMap<string, number>, poolId: string): number {
  return state.runners
    .filter((one) => one.poolId === poolId)
    .reduce((sum, one) => sum + (held.get(one.runnerId) ?? 0), 0);
}

t.test("the oldest run goes first, to the runner with most room", async (t) => {
  const base = { poolId: "pool_a", labels: [], harnesses: ["command"], connected: true, name: "", since: "" };
  const state: PlacementState = {
    runners: [
      { ...base, runnerId: "small", slots: 1 },
      { ...base, runnerId: "large", slots: 3 },
    ],
    pools: [{ id: "pool_a", key: "a", labels: [], concurrency: null }],
    claims: [],
    defaultPoolId: null,
    maxRuns: null,
    ...noLanes,
  };
  const run = (runId: string, queuedAtMs: number): QueuedRun => ({
    runId,
    queuedAtMs,
    poolId: null,
    labels: [],
    harness: "command",
  });
  const placed = assignRuns([run("old", 1), run("new", 2)], state);
  t.same(
    placed.map(({ run: { runId }, runner: { runnerId } }) => [runId, runnerId]),
    [
      ["old", "large"],
      ["new", "large"],
    ],
  );
});

t.test("reasons name what is missing", async (t) => {
  const run: QueuedRun = {
    runId: "run",

    poolId: "pool_a",
    labels: ["gpu"],
    harness: "command",
    queuedAtMs: 0,
  };
  const pools = [{ id: "pool_a", key: "main", labels: [], concurrency: 1 }];
  const one: RunnerRow = {
    runnerId: "r",
    poolId: "pool_a",
    name: "",
    labels: ["gpu"],
    harnesses: ["command"],
    slots: 1,
    connected: true,
    since: "",
  };
  const unruled = { defaultPoolId: null, maxRuns: null, ...noLanes };
  const why = (runner: Partial<RunnerRow>, held = 0, rules: Partial<PlacementState> = {}) =>
    waitingReason(run, {
      runners: [{ ...one, ...runner }],
      pools,
      claims: listClaims(new Map([["r", held]])),
      ...unruled,
      ...rules,
    });
  t.equal(why({}), null);
  t.match(why({ connected: false }), /No runner of pool main is connected/);
  t.match(why({ labels: [] }), /has the label gpu; the connected ones have none\./);
  t.match(why({ labels: ["x", "arm", "x"] }), /has the label gpu; the connected ones have arm, x\./);
  t.match(why({ labels: Array.from({ length: 13 }, (_, n) => `l${n}`) }), /l6 and 3 more\./);
  t.match(why({ harnesses: ["other"] }), /harness command; they offer other\./);
  t.match(why({}, 1), /busy: 1 of 1 slots are in use/);
  t.match(why({ slots: 0 }), /busy: they are draining/);
  t.match(why({ slots: 2 }, 1), /concurrency of main is 1/);
  t.match(why({ slots: 2 }, 1, { maxRuns: 1 }), /workspace allows no more than 1 runs/);
  const empty = { runners: [], pools, claims: [], ...unruled };
  t.match(waitingReason({ ...run, poolId: "pool_x" }, empty), /was deleted/);
  const byDefault = waitingReason({ ...run, poolId: null }, { ...empty, defaultPoolId: "pool_a" });
  t.match(byDefault, /No runner of pool main is connected/);
});
