import { rowSpace } from "../../storage/keys.js";
import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import { type ActorParts, defineArea } from "../area.js";
import { runActor } from "./run.machine.js";
import { runOwned, runRetention } from "./run.retention.js";
import { runSource } from "./run.table.js";
import { runBaseWalks, runInputWalks } from "./run-input.migration.js";
import { runBases } from "./run-input.table.js";

interface OldApproval {
  readonly id: string;
  readonly runId: string;
  readonly state: string;
  /** Only present in migrated rows. */
  readonly approver?: string | null;
}

/**
 * Adds to each approval the person who may answer it: the assignee of the run's task. Indexes open approvals by
 * approver.
 */
const approverWalks: readonly Walk[] = [
  eachRow<OldApproval>("approval", (row, place) => {
    if (row.approver !== undefined) return [];
    const { reading, partition } = place;
    const { id, runId, state } = row;
    const run = reading.get<{ readonly taskId: string | null }>([partition, rowSpace, "run", runId]);
    const taskId = run?.taskId ?? "";
    const task = reading.get<{ readonly assignee: string | null }>([partition, rowSpace, "task", taskId]);
    const approver = task?.assignee ?? null;
    const found = state === "open" && approver !== null;
    return [
      putRow(place, "approval", [runId, id], { ...row, approver }),
      ...(found ? [putRow(place, "approval-approver", [approver, runId, id], true)] : []),
    ];
  }),
];

/** Runs: single attempts of agents. */
export const runsArea = defineArea({
  name: "runs",
  actors: ({ runOwners }: Pick<ActorParts, "runOwners">) => [runActor(runOwners)],
  tables: [runRetention, ...runOwned, runBases],
  directorySources: () => [runSource],
  migrations: [
    { to: 3, title: "runs have owners and inputs", walks: runInputWalks },
    { to: 7, title: "runs are found by the commits that they began from", walks: runBaseWalks },
    { to: 11, title: "approvals say who may answer them", walks: approverWalks },
  ],
});
