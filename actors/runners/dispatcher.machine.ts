/**
 * Gives a workspace's queued runs to its runners, `dispatcher/<workspace>`: the one writer of the queue, of what
 * runners offer, of claims and of lanes.
 *
 * | state  | moved by         | next   | also                                                              |
 * |--------|------------------|--------|-------------------------------------------------------------------|
 * | placing| run.queue        | placing| the run joins the queue; runs are placed                          |
 * | placing| run.unqueue      | placing| the run leaves the queue; runs are placed                         |
 * | placing| runner.offer     | placing| what the runner offers is kept; runs are placed                   |
 * | placing| runner.forget    | placing| the runner is gone; runs are placed                               |
 * | placing| claim.release    | placing| the claim is over; runs are placed                                |
 * | placing| lane.limit       | placing| what the lane may hold is kept; runs are placed                   |
 * | placing| pools.changed    | placing| runs are placed                                                   |
 *
 * A run that is placed gets `run.claim`, once; whether it takes it is its own to decide. It has one state: all that it
 * knows lies in rows, and in the picture of them that it holds in memory (`dispatcher-picture.ts`).
 */
import { setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { type DispatcherMessage, dispatcherRef } from "./dispatcher.messages.js";
import {
  limitLane,
  placeRuns,
  putRunner,
  queueRun,
  releaseClaim,
  removeRunner,
  unqueueRun,
} from "./dispatcher.transitions.js";
import { dispatcherPicture } from "./dispatcher-picture.js";

type DispatcherEvent = Delivered<DispatcherMessage>;

const machine = setup({
  types: { context: {} as Record<string, never>, events: {} as DispatcherEvent },
  actions: { placeRuns: ({ event }) => placeRuns(event.turn) },
}).createMachine({
  id: "dispatcher",
  context: {},
  initial: "placing",
  states: {
    placing: {
      on: {
        "run.queue": { actions: [({ event }) => queueRun(event), "placeRuns"] },
        "run.unqueue": { actions: [({ event }) => unqueueRun(event), "placeRuns"] },
        "runner.offer": { actions: [({ event }) => putRunner(event), "placeRuns"] },
        "runner.forget": { actions: [({ event }) => removeRunner(event), "placeRuns"] },
        "claim.release": { actions: [({ event }) => releaseClaim(event), "placeRuns"] },
        "lane.limit": { actions: [({ event }) => limitLane(event), "placeRuns"] },
        "pools.changed": { actions: "placeRuns" },
      },
    },
  },
});

/** See the table above. */
export const dispatcherActor = defineActor(dispatcherRef, { machine, version: 1, pictures: [dispatcherPicture] });
