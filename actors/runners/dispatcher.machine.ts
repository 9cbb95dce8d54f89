/**
 * Gives a workspace's queued runs to its runners, `dispatcher/<workspace>`. The one writer of the queue, of runners'
 * offers, of claims and of lanes.
 *
 * | state  | moved by         | next   | also                                                              |
 * |--------|------------------|--------|-------------------------------------------------------------------|
 * | placing| run.queue        | placing| adds the run to the queue; places runs                            |
 * | placing| run.unqueue      | placing| removes the run from the queue; places runs                       |
 * | placing| runner.offer     | placing| stores the runner's offer; places runs                            |
 * | placing| runner.forget    | placing| removes the runner; places runs                                   |
 * | placing| claim.release    | placing| removes the claim; places runs                                    |
 * | placing| lane.limit       | placing| stores the lane's limit; places runs                              |
 * | placing| pools.changed    | placing| places runs                                                       |
 *
 * A run that is placed gets `run.claim`, once, and decides whether it takes the claim. There is one state: everything
 * is in rows, and in a picture of them in memory (`dispatcher-picture.ts`).
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
