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
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Turn } from "../../runtime/turn.js";
import { type DispatcherMessage, dispatcherRef } from "./dispatcher.messages.js";
import { assignRuns, freePlaces, waitingReason } from "./placement.js";
import { getPlacementState } from "./placement.queries.js";
import { dequeue, enqueue, longestWaiting, needsQueued } from "./run-queue.table.js";
import { type ClaimRun, runRef } from "./runner.messages.js";
import { claims, runners } from "./runner.table.js";

type DispatcherEvent = Delivered<DispatcherMessage>;

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
export const dispatcherActor = defineActor(dispatcherRef, { machine, version: 1 });

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
    turn.send(runRef(workspaceId, run.runId), claim);
  }
}
