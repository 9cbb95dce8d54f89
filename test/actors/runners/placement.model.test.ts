import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import type { Placement } from "../../../actors/runners/placement.js";
import { waitingReason } from "../../../actors/runners/waiting-reason.js";
import { waitingReason as naiveReason, type PlacementState } from "./naive-placement.js";
import { claimRow, laneRow, line, runnerRow, state } from "./placement-scene.js";
import { toPlacement } from "./placing.js";

/** An update of the product's placement, and the same update of the rows. */
interface Step {
  readonly tell: (placement: Placement) => void;
  readonly rows: (state: PlacementState) => PlacementState;
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  runnerRow.map((row) => ({
    tell: (placement: Placement) => placement.putRunner(row),
    rows: (state: PlacementState) => {
      const others = state.runners.filter(({ runnerId }) => runnerId !== row.runnerId);
      return { ...state, runners: [...others, row].sort((left, right) => (left.runnerId < right.runnerId ? -1 : 1)) };
    },
  })),
  runnerRow.map(({ runnerId }) => ({
    tell: (placement: Placement) => placement.removeRunner(runnerId),
    rows: (state: PlacementState) => ({ ...state, runners: state.runners.filter((row) => row.runnerId !== runnerId) }),
  })),
  claimRow.map((row) => ({
    tell: (placement: Placement) => placement.putClaim(row),
    rows: (state: PlacementState) => ({ ...state, claims: [...state.claims.filter(isOther(row)), row] }),
  })),
  claimRow.map((row) => ({
    tell: (placement: Placement) => void placement.removeClaim(row.runnerId, row.runId),
    rows: (state: PlacementState) => ({ ...state, claims: state.claims.filter(isOther(row)) }),
  })),
  laneRow.map((row) => ({
    tell: (placement: Placement) => placement.lanes.put(row),
    rows: (state: PlacementState) => ({
      ...state,
      lanes: [...state.lanes.filter(({ lane }) => lane !== row.lane), row],
    }),
  })),
);

function isOther(row: { readonly runnerId: string; readonly runId: string }) {
  return (other: { readonly runnerId: string; readonly runId: string }) =>
    other.runnerId !== row.runnerId || other.runId !== row.runId;
}

t.test("placement that is updated row by row equals placement built from the rows", async () => {
  fc.assert(
    fc.property(state, fc.array(steps, { maxLength: 25 }), fc.array(line, { maxLength: 6 }), (start, told, asked) => {
      const placement = toPlacement(start);
      let state = start;
      return told.every(({ tell, rows }) => {
        tell(placement);
        state = rows(state);
        const made = toPlacement(state);
        return (
          isDeepStrictEqual(placement.describe(), made.describe()) &&
          asked.every(
            (run) =>
              waitingReason(run, placement) === naiveReason(run, state) &&
              isDeepStrictEqual(placement.fitting(run).describe(), made.fitting(run).describe()),
          )
        );
      });
    }),
    { numRuns: 500 },
  );
});

t.test("needs without waiting runs are evicted, and built again when they are used", async (t) => {
  const placement = toPlacement({
    runners: [],
    pools: [],
    claims: [],
    lanes: [],
    defaultPoolId: null,
    maxRuns: null,
    besideWorkPercent: 50,
  });
  const needs = (n: number) => ({ poolId: null, labels: [`label-${n}`], harness: "command" });
  const first = placement.fitting(needs(0));
  const retained = placement.fitting(needs(1));
  placement.needs.retain(retained);
  for (let n = 2; n < 500; n++) placement.fitting(needs(n));
  t.ok([...placement.needs.all()].length < 100);
  t.not(placement.fitting(needs(0)), first);
  t.equal(placement.fitting(needs(1)), retained);
});
