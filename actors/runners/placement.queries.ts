import type { Picture } from "../../runtime/picture.js";
import type { Reading } from "../../storage/store.js";
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

/** Why the queued run waits, or null when it is not queued or will be taken right away. */
export function whyWaiting(reading: Reading, workspaceId: string, run: QueuedRun): string | null {
  return isQueued(reading, workspaceId, run) ? waitingReason(run, readPlacement(reading, workspaceId)) : null;
}
