import { isDeepStrictEqual } from "node:util";
import type { Picture } from "../../runtime/rows/row-view.js";
import type { Placement } from "./placement.js";
import { placementRows, readPlacement } from "./placement.queries.js";
import { RunQueue } from "./run-queue.js";
import { findYoungest, listLines, queueTables } from "./run-queue.table.js";

/** The state that a dispatcher derives from its workspace's rows and caches in memory. */
export interface DispatcherPicture {
  readonly placement: Placement;
  readonly queue: RunQueue;
}

/** Built from runners, claims, lanes, rules, lines and the youngest queued run. Other runs are read on demand. */
export const dispatcherPicture: Picture<DispatcherPicture> = {
  rows: [...placementRows, ...queueTables.map((table) => [table] as const)],
  build: (reading, { partition }) => {
    const placement = readPlacement(reading, partition);
    const queue = new RunQueue(placement, listLines(reading, partition), findYoungest(reading, partition));
    return { placement, queue };
  },
  isSame: (held, built) =>
    isDeepStrictEqual(held.placement.describe(), built.placement.describe()) &&
    isDeepStrictEqual(held.queue.describe(), built.queue.describe()) &&
    [...held.placement.needs.all()].every((fitting) =>
      isDeepStrictEqual(fitting.describe(), built.placement.fitting(fitting.needs).describe()),
    ),
};
