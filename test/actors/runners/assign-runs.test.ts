import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import type { LaneRow } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import type { ClaimRow, QueuedRun } from "../../../actors/runners/runner.table.js";
import { waitingReason } from "../../../actors/runners/waiting-reason.js";
import { assignRuns, waitingReason as naiveReason, type PlacementState } from "./naive-placement.js";
import { queue, state } from "./placement-scene.js";
import { place, toPlacement } from "./placing.js";

const ids = (assignments: readonly { readonly run: QueuedRun; readonly runner: RunnerRow }[]) =>
  assignments.map(({ run, runner }) => `${run.runId} ${runner.runnerId}`);

t.test("runs are assigned as by an algorithm that reads everything for each run", async () => {
  fc.assert(
    fc.property(state, queue, (state, runs) => {
      return isDeepStrictEqual(ids(place(runs, toPlacement(state))), ids(assignRuns(runs, state).assignments));
    }),
    { numRuns: 2_000 },
  );
});

t.test("the reason of a waiting run is that of an algorithm that reads everything", async () => {
  fc.assert(
    fc.property(state, queue, (state, runs) => {
      const placement = toPlacement(state);
      return runs.every((run) => waitingReason(run, placement) === naiveReason(run, state));
    }),
    { numRuns: 2_000 },
  );
});

const runner = (runnerId: string, slots: number): RunnerRow => ({
  runnerId,
  poolId: "pool_a",
  name: "",
  labels: [],
  harnesses: ["command"],
  slots,
  connected: true,
  since: "",
});
const base: PlacementState = {
  runners: [runner("one", 4), runner("two", 4)],
  pools: [{ id: "pool_a", key: "main", labels: [], concurrency: null }],
  claims: [],
  lanes: [],
  defaultPoolId: null,
  maxRuns: null,
  besideWorkPercent: 50,
};
const inLane = (lane: string | undefined, runId: string, queuedAtMs: number): QueuedRun => ({
  runId,
  queuedAtMs,
  poolId: null,
  labels: [],
  harness: "command",
  ...(lane === undefined ? {} : { lane }),
});
const several = (lane: string | undefined, count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => inLane(lane, `${lane ?? "work"}-${n}`, from + n));
const toPlaced = (runs: readonly QueuedRun[], more: Partial<PlacementState> = {}) =>
  place(runs, toPlacement({ ...base, ...more })).map(({ run }) => run.runId);

t.test("work goes first, however long others have waited", async (t) => {
  const runs = [...several("replay:a", 3), ...several(undefined, 7, 100)];
  t.same(toPlaced(runs), [...several(undefined, 7).map(({ runId }) => runId), "replay:a-0"]);
});

t.test("the other lanes together get half of a pool's slots, at least one, and take turns", async (t) => {
  const runs = [...several("replay:a", 9), ...several("replay:b", 9, 100)];
  t.same(toPlaced(runs), ["replay:a-0", "replay:b-0", "replay:a-1", "replay:b-1"]);
  t.same(toPlaced(runs, { runners: [runner("one", 1)] }), ["replay:a-0"]);
  const served: LaneRow[] = [
    { lane: "replay:a", maxClaims: null, served: 7 },
    { lane: "replay:b", maxClaims: null, served: 6 },
  ];
  t.same(toPlaced(runs, { lanes: served }).slice(0, 2), ["replay:b-0", "replay:a-0"]);
  const held: ClaimRow = { runnerId: "one", runId: "x", poolId: "pool_a", lane: "search:c" };
  t.same(toPlaced(runs, { claims: [held] }).length, 3, "what they hold counts");
  t.same(toPlaced(runs, { claims: [{ ...held, lane: "work" }] }).length, 4, "what work holds does not");
});

t.test("a lane's own limit applies too, and stops no other lane", async (t) => {
  const runs = [...several("replay:a", 9), ...several("replay:b", 9, 100)];
  const lanes: LaneRow[] = [{ lane: "replay:a", maxClaims: 1, served: 0 }];
  t.same(toPlaced(runs, { lanes }), ["replay:a-0", "replay:b-0", "replay:b-1", "replay:b-2"]);
});

t.test("a run says in which lane it waits and why", async (t) => {
  const why = (more: Partial<PlacementState>) =>
    waitingReason(inLane("replay:a", "r", 0), toPlacement({ ...base, ...more }));
  t.equal(why({}), null);
  t.equal(why({ runners: [] }), "In the lane replay:a: No runner of the workspace is connected.");
  const lanes: LaneRow[] = [{ lane: "replay:a", maxClaims: 0, served: 0 }];
  t.equal(why({ lanes }), "In the lane replay:a: No more than 0 runs at once are allowed.");
  const claims = several("replay:b", 4).map(({ runId }) => ({ runnerId: "one", runId, poolId: "", lane: "replay:b" }));
  const more = { claims: claims.slice(0, 1), runners: [runner("one", 2)] };
  t.equal(
    why(more),
    "In the lane replay:a: No more runs at once are allowed of the workspace: replays, checks and searches may use 1 of the slots of main.",
  );
  t.equal(
    why({ claims, runners: [runner("one", 4)] }),
    "In the lane replay:a: Every matching runner of the workspace is busy: 4 of 4 slots are in use.",
  );
});
