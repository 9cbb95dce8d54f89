/**
 * Assigns a workspace's queued runs to its runners, `dispatcher/<workspace>`. Only this actor writes the queue,
 * runners' offers, claims and lanes.
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
 * A run that was placed gets one `run.claim`, and decides whether it accepts the claim. The machine has only one state.
 * All its data is in rows, and in a view of these rows in memory (`dispatcher-view.ts`).
 */
import { createChart, type InTurn, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
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
import { dispatcherView } from "./dispatcher-view.js";

const { on, machine } = createChart<NoContext, DispatcherMessage>();

const place = ({ turn }: InTurn) => placeRuns(turn);

const dispatcherMachine = machine({
  id: "dispatcher",
  initial: "placing",
  states: {
    placing: {
      on: {
        ...on("run.queue", queueRun, place),
        ...on("run.unqueue", unqueueRun, place),
        ...on("runner.offer", putRunner, place),
        ...on("runner.forget", removeRunner, place),
        ...on("claim.release", releaseClaim, place),
        ...on("lane.limit", limitLane, place),
        ...on("pools.changed", place),
      },
    },
  },
});

/** The actor of the machine above. */
export const dispatcherActor = defineActor(dispatcherRef, {
  machine: dispatcherMachine,
  version: 1,
  rowViews: [dispatcherView],
});
