/**
 * Removes bodies that no row has referred to for a day, `blob-sweeper/unused`, one for each workspace.
 *
 * | state   | moved by     | condition         | next    | also                                              |
 * |---------|--------------|-------------------|---------|---------------------------------------------------|
 * | idle    | blobs.unused |                   | waiting | wake-up in a day                                  |
 * | waiting | blobs.unused |                   | waiting |                                                   |
 * | waiting | woken        | late: the service | waiting | wake-up in an hour, so that undelivered messages, |
 * |         |              | was down          |         | whose rows refer to bodies, are delivered first   |
 * | waiting | woken        | bodies remain     | waiting | removes bodies that are due; wake-up for the next |
 * | waiting | woken        | none remains      | (ended) | removes bodies that are due                       |
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Delivered, Woken } from "../../runtime/turns/turn.js";
import { type BlobsUnused, blobSweeperRef, sweepBlobs, UNUSED_MS } from "./blobs.js";

/** Maximum number of bodies to remove in one turn. */
const SWEPT_AT_ONCE = 50;
/** A wake-up is late if it arrives more than this many milliseconds after its due time. */
const LATE_MS = 60_000;
/** Delay of the sweep after a late wake-up, in milliseconds. */
const POSTPONED_MS = 60 * 60 * 1_000;
const SWEEP = "sweep";

const { on, choose, machine } = createChart<NoContext, BlobsUnused | Woken>();

const blobSweeperMachine = machine({
  id: "blob-sweeper",
  initial: "idle",
  states: {
    idle: { on: on("blobs.unused", "waiting", ({ turn }) => turn.wake(SWEEP, turn.now + UNUSED_MS)) },
    waiting: {
      on: {
        ...on("blobs.unused"),
        ...choose(
          "woken",
          {
            when: ({ turn, dueMs }) => turn.now > dueMs + LATE_MS,
            act: ({ turn }) => turn.wake(SWEEP, turn.now + POSTPONED_MS),
          },
          { act: sweep },
        ),
      },
    },
  },
});

/** The actor of the machine above. */
export const blobSweeperActor = defineActor(blobSweeperRef, { machine: blobSweeperMachine, version: 1 });

function sweep({ turn }: Delivered<Woken>): void {
  const nextMs = sweepBlobs(turn, turn.self.partition, SWEPT_AT_ONCE);
  if (nextMs === null) turn.stop();
  else turn.wake(SWEEP, Math.max(nextMs, turn.now));
}
