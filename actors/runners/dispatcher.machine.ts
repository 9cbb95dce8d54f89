/**
 * Gives a workspace's queued runs to its runners, `dispatcher/<workspace>`: the one writer of the queue, of what
 * runners offer, and of claims.
 *
 * | state  | moved by         | next   | also                                                              |
 * |--------|------------------|--------|-------------------------------------------------------------------|
 * | placing| run.queue        | placing| the run joins the queue; runs are placed                          |
 * | placing| run.unqueue      | placing| the run leaves the queue                                          |
 * | placing| runner.offer     | placing| what the runner offers is kept; runs are placed                   |
 * | placing| runner.forget    | placing| the runner is gone                                                |
 * | placing| claim.release    | placing| the claim is over; runs are placed                                |
 * | placing| pools.changed    | placing| runs are placed                                                   |
 *
 * A run that is placed gets `run.claim`, once; whether it takes it is its own to decide.
 */
import { setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { address } from "../../runtime/address.js";
import type { Delivered, Message, Turn } from "../../runtime/turn.js";
import { assignRuns, freePlaces, waitingReason } from "./placement.js";
import { getPlacementState } from "./placement.queries.js";
import { dequeue, enqueue, longestWaiting, needsQueued } from "./run-queue.table.js";
import { claims, type QueuedRun, type RunnerRow, runners } from "./runner.table.js";

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

/** A pool was made or changed: what it allows may have changed. */
export interface PoolsChanged extends Message {
  readonly type: "pools.changed";
}

/** What a placed run is told. */
export interface ClaimRun extends Message {
  readonly type: "run.claim";
  readonly runnerId: string;
}

type DispatcherEvent = Delivered<QueueRun | UnqueueRun | OfferRunner | ForgetRunner | ReleaseClaim | PoolsChanged>;

const machine = setup({
  types: { context: {} as Record<string, never>, events: {} as DispatcherEvent },
  actions: {
    take: ({ event }) => {
      record(event);
      placeRuns(event.turn);
    },
  },
}).createMachine({
  id: "dispatcher",
  context: {},
  initial: "placing",
  states: {
    placing: {
      on: {
        "run.queue": { actions: "take" },
        "run.unqueue": { actions: "take" },
        "runner.offer": { actions: "take" },
        "runner.forget": { actions: "take" },
        "claim.release": { actions: "take" },
        "pools.changed": { actions: "take" },
      },
    },
  },
});

/** See the table above. */
export const dispatcherActor: ActorType = { kind: "dispatcher", machine, version: 1 };

/** The dispatcher of a workspace. */
export function dispatcherAddress(workspaceId: string) {
  return address(workspaceId, "dispatcher", workspaceId);
}

function record(event: DispatcherEvent): void {
  const { turn } = event;
  const workspaceId = turn.self.partition;
  switch (event.type) {
    case "run.queue":
      return enqueue(turn, workspaceId, event.run);
    case "run.unqueue":
      return dequeue(turn, workspaceId, event.run);
    case "runner.offer":
      return runners.put(turn, workspaceId, event.runner.runnerId, event.runner);
    case "runner.forget":
      return runners.remove(turn, workspaceId, event.runnerId);
    case "claim.release":
      return claims.remove(turn, workspaceId, event.runnerId, event.runId);
    case "pools.changed":
      return;
  }
}

function placeRuns(turn: Turn): void {
  const workspaceId = turn.self.partition;
  const wanted = needsQueued(turn, workspaceId);
  if (wanted.length === 0) return;
  const state = getPlacementState(turn, workspaceId);
  const places = freePlaces(state);
  if (places === 0) return;
  const queue = wanted
    .filter((needs) => waitingReason(needs, state) === null)
    .flatMap((needs) => longestWaiting(turn, workspaceId, needs, places));
  for (const { run, runner } of assignRuns(queue, state)) {
    const { runnerId, poolId } = runner;
    dequeue(turn, workspaceId, run);
    claims.put(turn, workspaceId, [runnerId, run.runId], { runnerId, runId: run.runId, poolId });
    const claim: ClaimRun = { type: "run.claim", runnerId };
    turn.send(address(workspaceId, "run", run.runId), claim);
  }
}
