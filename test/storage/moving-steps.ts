import { eachRow, putRow, removeRow, removeTable } from "../../storage/migration-walks.js";
import type { MigrationStep } from "../../storage/migrations.js";

/**
 * Migration steps whose result shows if a slice ran twice. The number of a run is the number of rows that were written
 * before it, and its old row is removed.
 */
export const movingSteps: readonly MigrationStep[] = [
  {
    to: 2,
    title: "runs are numbered",
    walks: [
      eachRow("run", (run, at) => {
        const before = at.reading.range({ prefix: [at.partition, "row", "numbered-run"] }).length;
        return [putRow(at, "numbered-run", at.id, { run, number: before }), removeRow(at, "run", at.id)];
      }),
    ],
  },
  { to: 3, title: "tasks are in no list", walks: [removeTable("team-task-by"), removeTable("team-task")] },
  {
    to: 4,
    title: "places are gone",
    walks: [removeTable("place", { of: "service" }), removeTable("place", { of: "all" })],
  },
];
