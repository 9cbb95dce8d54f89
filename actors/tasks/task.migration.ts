import { eachRow, putRow, removeTable } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** What of a task its indexes are made of. */
interface IndexedTask {
  readonly id: string;
  readonly teamId: string;
  readonly state: string;
  readonly lineId: string;
  readonly station: string;
  readonly assignee: string | null;
}

/**
 * A task was found by a row for every mix of state, line, station and assignee; it is by a row for each of six indexes,
 * of which any two of them are the beginning of one.
 */
export const compositeTaskIndexes: readonly Walk[] = [
  eachRow<IndexedTask>("task", ({ id, teamId, state, lineId, station, assignee }, place) => {
    // What no text is stands for nobody.
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
