import { z } from "zod";
import type { Stored } from "../../view.js";

/** The fields of a set that have the same form in its row and in its view. */
export const replaySetFields = z.strictObject({
  id: z.string(),
  name: z.string(),
  lineId: z.string(),
  stationId: z.string(),
  /** The station's key, which never changes for a station id. */
  stationKey: z.string(),
  version: z.int().describe("Increases when a run is added or removed."),
  createdAt: z.iso.datetime(),
  guardsChanges: z
    .boolean()
    .describe("Whether the set guards its station's changes: replay checks of planned changes replay this set."),
});

/** A named set of ended runs of one station, which replays can repeat. The runs are its entries. */
export interface ReplaySetRow extends Stored<typeof replaySetFields> {
  readonly teamId: string;
}

/**
 * A run of a set. The entry pins the run, and so the run's task, input, steps and blobs. The entry also makes the
 * archives retain the commits that the run started from.
 */
export interface ReplayEntryRow {
  readonly setId: string;
  /** The run's place in the set: the first version of the set that contains the run. */
  readonly place: number;
  readonly runId: string;
  readonly taskId: string;
  readonly addedAt: string;
}
