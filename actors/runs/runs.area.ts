import { type ActorParts, defineArea } from "../area.js";
import { approverWalks } from "./approval.migration.js";
import { runActor } from "./run.machine.js";
import { runOwned, runRetention } from "./run.retention.js";
import { runSource } from "./run.table.js";
import { runBaseWalks, runInputWalks } from "./run-input.migration.js";
import { runBases } from "./run-input.table.js";

/** Runs: single attempts of agents. A run belongs to a task, a replay or a search. */
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
