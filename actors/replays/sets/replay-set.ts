import { z } from "zod";
import type { Stored } from "../../view.js";

/** The fields of a set that have the same form in its row and in its view. */
export const replaySetFields = z.strictObject({
  id: z.string().describe("The id of the replay set (`rset_…`)."),
  name: z.string().describe("The name of the set, 1 to 100 characters."),
  lineId: z.string().describe("The line of the set's station (`line_…`)."),
  stationId: z.string().describe("The id of the station whose runs the set holds."),
  stationKey: z.string().describe("The key of the station, which never changes for a station id."),
  version: z.int().describe("Increases when a run is added or removed."),
  createdAt: z.iso.datetime().describe("When the set was created, as an RFC 3339 time."),
  guardsChanges: z
    .boolean()
    .describe("Whether the set guards its station's changes: replay checks of planned changes replay this set."),
});

/** A named set of ended runs of one station. Replays can repeat these runs. The runs are the set's entries. */
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
