import fc from "fast-check";
import type { RunnerFeature } from "../../../actors/runners/protocol.js";
import type { LaneRow } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import type { ClaimRow, QueuedRun } from "../../../actors/runners/runner.table.js";
import type { PlacementState } from "./naive-placement.js";

/** Generators of small worlds in which every case of placement occurs often. */

/** Generates records with the same prototype as a store's rows. */
function plain<Row>(fields: { [Field in keyof Row]: fc.Arbitrary<Row[Field]> }): fc.Arbitrary<Row> {
  return fc.record<Row>(fields, { noNullPrototype: true });
}

const label = fc.constantFrom("gpu", "arm", "big");
const lane = fc.constantFrom(undefined, undefined, "replay:a", "replay:b", "search:c");
const runnerId = fc.integer({ min: 0, max: 5 }).map((n) => `runner_${n}`);

export const runnerRow: fc.Arbitrary<RunnerRow> = plain({
  runnerId,
  poolId: fc.constantFrom("pool_a", "pool_a", "pool_b", "pool_gone"),
  name: fc.constant(""),
  // Only a few variants, so that a runner often offers the same labels again, or the same labels as another runner.
  labels: fc.constantFrom([], [], ["gpu"], ["gpu", "big"], ["big", "gpu", "gpu"]),
  harnesses: fc.constantFrom(["command"], ["command"], ["other", "command"], []),
  slots: fc.integer({ min: 0, max: 3 }),
  features: fc.constantFrom([], [], ["messages"], ["taskless", "messages"], ["messages", "taskless"]),
  connected: fc.boolean(),
  since: fc.constant(""),
});

/** A run's requirements, and its lane. */
export const line = fc
  .record({
    poolId: fc.constantFrom(null, "pool_a", "pool_b", "pool_gone"),
    labels: fc.array(label, { maxLength: 2 }),
    harness: fc.constantFrom("command", "other"),
    features: fc.constantFrom<readonly RunnerFeature[] | undefined>(undefined, undefined, undefined, ["taskless"]),
    lane,
  })
  .map(({ lane, features, ...needs }) => ({
    ...needs,
    ...(features === undefined ? {} : { features }),
    ...(lane === undefined ? {} : { lane }),
  }));

export const claimRow: fc.Arbitrary<ClaimRow> = fc
  .record({ runnerId, runId: fc.nat(9).map((n) => `held_${n}`), poolId: fc.constant(""), lane })
  .map(({ lane, ...claim }) => (lane === undefined ? claim : { ...claim, lane }));

export const laneRow: fc.Arbitrary<LaneRow> = plain({
  lane: fc.constantFrom("replay:a", "replay:b", "search:c"),
  maxClaims: fc.option(fc.integer({ min: 0, max: 3 })),
  served: fc.nat(3),
});

export const rules = fc
  .record({
    concurrency: fc.option(fc.integer({ min: 1, max: 3 })),
    concurrencyOfB: fc.option(fc.integer({ min: 1, max: 3 })),
    defaultPoolId: fc.constantFrom(null, null, "pool_a", "pool_b"),
    maxRuns: fc.option(fc.integer({ min: 1, max: 8 })),
    besideWorkPercent: fc.constantFrom(0, 50, 100),
  })
  .map(({ concurrency, concurrencyOfB, ...rules }) => ({
    ...rules,
    pools: [
      { id: "pool_a", key: "a", labels: ["arm"], concurrency },
      { id: "pool_b", key: "b", labels: [], concurrency: concurrencyOfB },
    ],
  }));

/**
 * Generates states of placement. Rows have unique ids. Runners are in the order of a store; claims and lanes are in any
 * order.
 */
export const state: fc.Arbitrary<PlacementState> = fc
  .record({
    rules,
    runners: fc.uniqueArray(runnerRow, { selector: (row) => row.runnerId, maxLength: 6 }),
    claims: fc.uniqueArray(claimRow, { selector: ({ runnerId, runId }) => runnerId + runId, maxLength: 8 }),
    lanes: fc.uniqueArray(laneRow, { selector: (row) => row.lane, maxLength: 3 }),
  })
  .map(({ rules, runners, claims, lanes }) => ({
    ...rules,
    runners: [...runners].sort((left, right) => (left.runnerId < right.runnerId ? -1 : 1)),
    claims,
    lanes,
  }));

export const queue: fc.Arbitrary<QueuedRun[]> = fc
  .array(fc.tuple(line, fc.nat(5)), { maxLength: 12 })
  .map((lines) => lines.map(([line, queuedAtMs], n) => ({ ...line, runId: `run_${n}`, queuedAtMs })));
