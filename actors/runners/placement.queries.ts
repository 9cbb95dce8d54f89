import { type ReadView, readView } from "../../runtime/rows/read-view.js";
import type { RowView } from "../../runtime/rows/row-view.js";
import type { Change, Reading } from "../../storage/store.js";
import { listResources, type ResourceRow, resourceAddresses, resources } from "../resources/resource.table.js";
import { Placement, type PlacementRules } from "./placement.js";
import { findQueued, lanes } from "./run-queue.table.js";
import { claims, type QueuedRun, runners } from "./runner.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";
import { waitingReason } from "./waiting-reason.js";
import { workspaceRunners } from "./workspace-runners.kind.js";

/** The default share of slots for replays, checks and searches, in percent. */
const REPLAY_SLOTS_PERCENT = 50;

const POOL = "runner-pool";
const RULES = "workspace-runners";

/** The rows that placement is built from. */
export const placementRows: RowView<Placement>["rows"] = [
  [runners.name],
  [claims.name],
  [lanes.name],
  [resources.name, POOL],
  [resources.name, RULES],
  [resourceAddresses.name, POOL],
  [resourceAddresses.name, RULES],
];

/** Returns the workspace's rules for placing runs: its pools and its settings. */
function getPlacementRules(reading: Reading, workspaceId: string): PlacementRules {
  const pools = listResources<RunnerPoolFields>(reading, workspaceId, POOL).map(
    ({ id, fields }: ResourceRow<RunnerPoolFields>) => ({
      id,
      key: fields.key,
      labels: fields.labels,
      concurrency: fields.concurrency,
    }),
  );
  const { defaultPool, maxConcurrentRuns, replaySlotsPercent } = workspaceRunners(reading, workspaceId);
  const defaultPoolId = pools.find(({ key }) => key === defaultPool)?.id ?? null;
  return {
    pools,
    defaultPoolId,
    maxRuns: maxConcurrentRuns,
    besideWorkPercent: replaySlotsPercent ?? REPLAY_SLOTS_PERCENT,
  };
}

/** Builds placement from the workspace's rows. */
export function readPlacement(reading: Reading, workspaceId: string): Placement {
  const placement = new Placement(getPlacementRules(reading, workspaceId));
  for (const runner of runners.list(reading, workspaceId)) placement.putRunner(runner);
  for (const claim of claims.list(reading, workspaceId)) placement.putClaim(claim);
  for (const lane of lanes.list(reading, workspaceId)) placement.lanes.put(lane);
  return placement;
}

/** Placement for reads, built only from durable rows. The dispatcher's own placement may already have newer changes. */
export const durablePlacement: ReadView<Placement> = {
  rows: placementRows,
  build: readPlacement,
  apply: applyToPlacement,
};

/**
 * Returns the reason why a queued run waits; null if the run is not queued or will be placed at once. The first call
 * for a workspace reads all its runners and claims. So does the first call after its pools or rules changed. In other
 * calls, the number of rows to read does not grow with the number of runners and claims.
 */
export function whyWaiting(reading: Reading, workspaceId: string, run: QueuedRun): string | null {
  if (findQueued(reading, workspaceId, run) === undefined) return null;
  return waitingReason(run, readView(reading, durablePlacement, workspaceId));
}

/** Applies a change of a runner, claim or lane. Returns false for pools and rules, which need a new placement. */
function applyToPlacement(placement: Placement, change: Change): boolean {
  const [table, first = "", second = ""] = change.key.slice(2).map(String);
  switch (table) {
    case runners.name: {
      const runner = runners.toRow(change);
      if (runner === undefined) placement.removeRunner(first);
      else placement.putRunner(runner);
      return true;
    }
    case claims.name: {
      const claim = claims.toRow(change);
      if (claim === undefined) placement.removeClaim(first, second);
      else placement.putClaim(claim);
      return true;
    }
    case lanes.name: {
      const lane = lanes.toRow(change);
      if (lane === undefined) placement.lanes.remove(first);
      else placement.lanes.put(lane);
      return true;
    }
    default:
      return false;
  }
}
