import { isDeepStrictEqual } from "node:util";
import type { RowView } from "../../runtime/rows/row-view.js";
import type { Placement } from "./placement.js";
import { placementRows, readPlacement } from "./placement.queries.js";
import { RunQueue } from "./run-queue.js";
import { findYoungest, listLines, queueTables } from "./run-queue.table.js";

/** The state that a dispatcher derives from its workspace's rows and caches in memory. */
export interface DispatcherView {
  readonly placement: Placement;
  readonly queue: RunQueue;
}

/** Built from runners, claims, lanes, rules, lines and the youngest queued run. Other runs are read on demand. */
export const dispatcherView: RowView<DispatcherView> = {
  rows: [...placementRows, ...queueTables.map((table) => [table] as const)],
  build: (reading, { partition }) => {
    const placement = readPlacement(reading, partition);
    const queue = new RunQueue(placement, listLines(reading, partition), findYoungest(reading, partition));
    return { placement, queue };
  },
  isSame: (cached, built) =>
    isDeepStrictEqual(cached.placement.describe(), built.placement.describe()) &&
    isDeepStrictEqual(cached.queue.describe(), built.queue.describe()) &&
    [...cached.placement.needs.all()].every((fitting) =>
      isDeepStrictEqual(fitting.describe(), built.placement.fitting(fitting.needs).describe()),
    ),
};
