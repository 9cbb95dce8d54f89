import type { Reading } from "../../storage/store.js";
import { listResources, type ResourceRow } from "../resources/resource.table.js";
import { type PlacementState, waitingReason } from "./placement.js";
import { isQueued } from "./run-queue.table.js";
import { claims, type QueuedRun, runners } from "./runner.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";
import { workspaceRunners } from "./workspace-runners.kind.js";

/** Reads what placement decides over: the workspace's pools, runners and claims, and its rules. */
export function getPlacementState(reading: Reading, workspaceId: string): PlacementState {
  const held = new Map<string, number>();
  for (const { runnerId } of claims.list(reading, workspaceId)) held.set(runnerId, (held.get(runnerId) ?? 0) + 1);
  const pools = listResources<RunnerPoolFields>(reading, workspaceId, "runner-pool").map(
    ({ id, fields }: ResourceRow<RunnerPoolFields>) => ({
      ...{ id, key: fields.key, labels: fields.labels, concurrency: fields.concurrency },
    }),
  );
  const { defaultPool, maxConcurrentRuns } = workspaceRunners(reading, workspaceId);
  const defaultPoolId = pools.find(({ key }) => key === defaultPool)?.id ?? null;
  return { runners: runners.list(reading, workspaceId), pools, held, defaultPoolId, maxRuns: maxConcurrentRuns };
}

/** Why the queued run waits, or null when it is not queued or will be taken right away. */
export function whyWaiting(reading: Reading, workspaceId: string, run: QueuedRun): string | null {
  return isQueued(reading, workspaceId, run) ? waitingReason(run, getPlacementState(reading, workspaceId)) : null;
}
