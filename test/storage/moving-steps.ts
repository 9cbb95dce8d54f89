import { eachRow, putRow, removeRow, removeTable } from "../../storage/migration-walks.js";
import type { MigrationStep } from "../../storage/migrations.js";

/**
 * Migration steps that make it visible if a slice runs twice. Step 2 numbers the runs: the number of a run is the
 * number of runs moved before it. The step then removes the run's old row.
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
