import { rowSpace } from "../../../storage/keys.js";
import { eachRow, putRow } from "../../../storage/migration-walks.js";
import type { Walk } from "../../../storage/migrations.js";

interface Entry {
  readonly setId: string;
  readonly runId: string;
}

/**
 * Records the entries whose commits have no hold yet. The actor of each team's sets adds the holds at the next service
 * start.
 */
export const commitHoldWalks: readonly Walk[] = [
  eachRow<Entry>("replay-entry", ({ setId, runId }, place) => {
    const set = place.reading.get<{ readonly teamId: string }>([place.partition, rowSpace, "replay-set", setId]);
    return set === undefined ? [] : [putRow(place, "entry-commits-due", [set.teamId, setId, runId], true)];
  }),
];
