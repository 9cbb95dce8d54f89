import { reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";
import type { RunnerRow } from "./runner.js";
import type { QueuedRun } from "./runner.table.js";

/** Messages to the dispatcher of a workspace. */

/** Adds a run to the queue. */
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

/** Sets the limit of a lane. If the limit is null, removes a lane that has no queued runs and no claims. */
export interface LimitLane extends Message {
  readonly type: "lane.limit";
  readonly lane: string;
  /** Maximum number of simultaneous claims; null for no limit. */
  readonly maxClaims: number | null;
}

/** A pool or the workspace's runner settings changed, so more runs may fit. */
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
