import type { Picture } from "../../runtime/picture.js";
import { type ReadPicture, readPicture } from "../../runtime/read-picture.js";
import type { Change, Reading } from "../../storage/store.js";
import { listResources, type ResourceRow, resourceAddresses, resources } from "../resources/resource.table.js";
import { Placement, type PlacementRules } from "./placement.js";
import { isQueued, lanes } from "./run-queue.table.js";
import { claims, type QueuedRun, runners } from "./runner.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";
import { waitingReason } from "./waiting-reason.js";
import { workspaceRunners } from "./workspace-runners.kind.js";

/** How much of each pool's slots may go to other lanes than `work`, in percent. */
const BESIDE_WORK_PERCENT = 50;

const POOL = "runner-pool";
const RULES = "workspace-runners";

/** The rows that placement is made of. */
export const placementRows: Picture<Placement>["rows"] = [
  [runners.name],
  [claims.name],
  [lanes.name],
  [resources.name, POOL],
  [resources.name, RULES],
  [resourceAddresses.name, POOL],
  [resourceAddresses.name, RULES],
];

/** What the workspace allows its runs: its pools, and its own rules. */
function getPlacementRules(reading: Reading, workspaceId: string): PlacementRules {
  const pools = listResources<RunnerPoolFields>(reading, workspaceId, POOL).map(
    ({ id, fields }: ResourceRow<RunnerPoolFields>) => ({
      ...{ id, key: fields.key, labels: fields.labels, concurrency: fields.concurrency },
    }),
  );
  const { defaultPool, maxConcurrentRuns } = workspaceRunners(reading, workspaceId);
  const defaultPoolId = pools.find(({ key }) => key === defaultPool)?.id ?? null;
  return { pools, defaultPoolId, maxRuns: maxConcurrentRuns, besideWorkPercent: BESIDE_WORK_PERCENT };
}

/** Placement as the workspace's rows are now. */
export function readPlacement(reading: Reading, workspaceId: string): Placement {
  const placement = new Placement(getPlacementRules(reading, workspaceId));
  for (const runner of runners.list(reading, workspaceId)) placement.putRunner(runner);
  for (const claim of claims.list(reading, workspaceId)) placement.putClaim(claim);
  for (const lane of lanes.list(reading, workspaceId)) placement.lanes.put(lane);
  return placement;
}

/** Placement as reads hold it: the dispatcher's own may be ahead of what is durable. */
export const durablePlacement: ReadPicture<Placement> = {
  rows: placementRows,
  build: readPlacement,
  apply: applyToPlacement,
};

/**
 * Why the queued run waits, or null when it is not queued or will be taken right away. A read reads no more rows with
 * more runners and claims, but for the first one of a workspace and the first after its pools or rules changed.
 */
export function whyWaiting(reading: Reading, workspaceId: string, run: QueuedRun): string | null {
  if (!isQueued(reading, workspaceId, run)) return null;
  return waitingReason(run, readPicture(reading, durablePlacement, workspaceId));
}

/** Brings in a row of a runner, claim or lane; false for a pool and for the workspace's rules. */
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
