import { reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";
import type { QueuedRun, RunnerRow } from "./runner.table.js";

/** What a workspace's dispatcher is told. */

export interface QueueRun extends Message {
  readonly type: "run.queue";
  readonly run: QueuedRun;
}
export interface UnqueueRun extends Message {
  readonly type: "run.unqueue";
  readonly run: QueuedRun;
}
export interface OfferRunner extends Message {
  readonly type: "runner.offer";
  readonly runner: RunnerRow;
}
export interface ForgetRunner extends Message {
  readonly type: "runner.forget";
  readonly runnerId: string;
}
export interface ReleaseClaim extends Message {
  readonly type: "claim.release";
  readonly runnerId: string;
  readonly runId: string;
}

/** What a lane may hold changes; a lane without limit that nothing is in is forgotten. */
export interface LimitLane extends Message {
  readonly type: "lane.limit";
  readonly lane: string;
  /** Claims at once; null for no limit. */
  readonly maxClaims: number | null;
}

/** A pool was made or changed: what it allows may have changed. */
export interface PoolsChanged extends Message {
  readonly type: "pools.changed";
}

export type DispatcherMessage =
  | QueueRun
  | UnqueueRun
  | OfferRunner
  | ForgetRunner
  | ReleaseClaim
  | LimitLane
  | PoolsChanged;

/** The dispatcher of a workspace. */
export const dispatcherRef = reference<DispatcherMessage, [workspaceId: string]>("dispatcher", (workspaceId) => [
  workspaceId,
  workspaceId,
]);
