import { eachRow, putRow, removeTable } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** The fields of a task that its indexes use. */
interface IndexedTask {
  readonly id: string;
  readonly teamId: string;
  readonly state: string;
  readonly lineId: string;
  readonly station: string;
  readonly assignee: string | null;
}

/**
 * Replaces the old task indexes. Tasks had an index row for every combination of state, line, station and assignee. Now
 * they have one row in each of six indexes, and any two of these fields form the prefix of one index.
 */
export const compositeTaskIndexes: readonly Walk[] = [
  eachRow<IndexedTask>("task", ({ id, teamId, state, lineId, station, assignee }, place) => {
    // A value that is not a string means that the task has no assignee.
    const of = assignee ?? 0;
    return [
      putRow(place, "team-task-by-station", [teamId, station, state, id], true),
      putRow(place, "team-task-by-line", [teamId, lineId, station, id], true),
      putRow(place, "team-task-by-state", [teamId, state, lineId, station, id], true),
      putRow(place, "team-task-by-assignee-state", [teamId, of, state, id], true),
      putRow(place, "team-task-by-assignee-line", [teamId, of, lineId, id], true),
      putRow(place, "team-task-by-assignee-station", [teamId, of, station, id], true),
    ];
  }),
  removeTable("team-task-by"),
];
