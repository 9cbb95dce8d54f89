import type { Delivered, Turn } from "../../runtime/turns/turn.js";
import { assignRuns } from "./assign-runs.js";
import type {
  ForgetRunner,
  LimitLane,
  OfferRunner,
  QueueRun,
  ReleaseClaim,
  UnqueueRun,
} from "./dispatcher.messages.js";
import { dispatcherView } from "./dispatcher-view.js";
import type { OldestRuns } from "./run-queue.js";
import {
  findQueued,
  getLane,
  type LaneRow,
  lanes,
  listOldest,
  type QueuedRow,
  removeLine,
  removeQueued,
  storeLine,
  storeQueued,
  toLineKey,
  WORK_LANE,
} from "./run-queue.table.js";
import { type ClaimRun, runRef } from "./runner.messages.js";
import { claims, runners } from "./runner.table.js";

/** The transition functions of the dispatcher. Each change of a row is also applied to the view in memory. */

/**
 * Adds a run to the end of the queue. If the clock is behind the time of the youngest run, starts a new era, so that
 * the new run still comes last.
 */
export function queueRun({ turn, run }: Delivered<QueueRun>): void {
  const { queue } = turn.rowView(dispatcherView);
  const key = toLineKey(run);
  const era = queue.eraAt(turn.now);
  const row: QueuedRow = era === 0 ? run : { ...run, era };
  if (!queue.has(key)) storeLine(turn, turn.self.partition, key, run);
  storeQueued(turn, turn.self.partition, key, row);
  queue.add(key, row);
}

export function unqueueRun({ turn, run }: Delivered<UnqueueRun>): void {
  const row = findQueued(turn, turn.self.partition, run);
  if (row !== undefined) dequeue(turn, row, toLineKey(run));
  forgetIdleLane(turn, getLane(run));
}

export function putRunner({ turn, runner }: Delivered<OfferRunner>): void {
  const { placement } = turn.rowView(dispatcherView);
  runners.put(turn, turn.self.partition, runner.runnerId, runner);
  placement.putRunner(runner);
}

export function removeRunner({ turn, runnerId }: Delivered<ForgetRunner>): void {
  const { placement } = turn.rowView(dispatcherView);
  runners.remove(turn, turn.self.partition, runnerId);
  placement.removeRunner(runnerId);
}

export function releaseClaim({ turn, runnerId, runId }: Delivered<ReleaseClaim>): void {
  const { placement } = turn.rowView(dispatcherView);
  claims.remove(turn, turn.self.partition, runnerId, runId);
  const lane = placement.removeClaim(runnerId, runId);
  if (lane !== null) forgetIdleLane(turn, lane);
}

/** Sets the limit of a lane. */
export function limitLane({ turn, lane, maxClaims }: Delivered<LimitLane>): void {
  const { placement } = turn.rowView(dispatcherView);
  putLane(turn, { ...placement.lanes.row(lane), maxClaims });
  forgetIdleLane(turn, lane);
}

/** Assigns a runner to every run that can be placed. */
export function placeRuns(turn: Turn): void {
  const { placement, queue } = turn.rowView(dispatcherView);
  const workspaceId = turn.self.partition;
  for (const { run, line, runner } of assignRuns({ placement, queue, oldestRuns: oldestIn(turn) })) {
    const { runnerId, poolId } = runner;
    const { runId, lane } = run;
    dequeue(turn, run, line.key);
    const claim = { runnerId, runId, poolId, ...(lane === undefined ? {} : { lane }) };
    claims.put(turn, workspaceId, [runnerId, runId], claim);
    placement.putClaim(claim);
    if (line.lane !== WORK_LANE) {
      putLane(turn, { ...placement.lanes.row(line.lane), served: placement.lanes.nextServed() });
    }
    const message: ClaimRun = { type: "run.claim", runnerId };
    turn.send(runRef(workspaceId, runId), message);
  }
}

function dequeue(turn: Turn, run: QueuedRow, key: string): void {
  const { queue } = turn.rowView(dispatcherView);
  removeQueued(turn, turn.self.partition, key, run);
  if (queue.remove(key, run, oldestIn(turn))) removeLine(turn, turn.self.partition, key);
}

function putLane(turn: Turn, lane: LaneRow): void {
  lanes.put(turn, turn.self.partition, lane.lane, lane);
  turn.rowView(dispatcherView).placement.lanes.put(lane);
}

/** Removes the row of a lane that has no limit, no queued runs and no claims. */
function forgetIdleLane(turn: Turn, lane: string): void {
  const { placement, queue } = turn.rowView(dispatcherView);
  const isUsed = placement.lanes.countClaims(lane) > 0 || !queue.isLaneEmpty(lane);
  if (isUsed || !placement.lanes.has(lane) || placement.lanes.row(lane).maxClaims !== null) return;
  lanes.remove(turn, turn.self.partition, lane);
  placement.lanes.remove(lane);
}

function oldestIn(turn: Turn): OldestRuns {
  return (line, limit) => listOldest(turn, turn.self.partition, line, limit);
}
