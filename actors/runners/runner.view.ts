import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import { defineView, type Shown } from "../view.js";
import { type RunnerRow, runnerSchema } from "./runner.js";
import { claims } from "./runner.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";

/** The functions that the view of a runner needs about its runs. */
interface RunsOfRunner {
  /** Whether the caller may read the run. Other runs are only counted. */
  sees(runId: string): boolean;
  /** Whether the run waits for a person's approval. */
  waits(runId: string): boolean;
}

interface Sources extends RunsOfRunner {
  readonly reading: Reading;
  readonly workspaceId: string;
  /** Ids of all runs that the runner holds. `seen` has only the runs that the caller may read. */
  readonly held: readonly string[];
  readonly seen: readonly string[];
}

const showRunner = defineView<RunnerRow, Sources>()(runnerSchema, {
  id: ({ runnerId }) => runnerId,
  pool: ({ poolId }, { reading, workspaceId }) =>
    findResource<RunnerPoolFields>(reading, workspaceId, "runner-pool", poolId)?.fields.key ?? null,
  free: ({ slots }, { held }) => Math.max(0, slots - held.length),
  held: (_runner, { held }) => held.length,
  runs: (_runner, { seen }) => seen,
  waiting: (_runner, { seen, waits }) => seen.filter(waits),
});

/** Returns a runner, with the runs that the caller may read. */
export function runnerView(
  reading: Reading,
  workspaceId: string,
  runner: RunnerRow,
  runs: RunsOfRunner,
): Shown<typeof runnerSchema> {
  const held = claims.list(reading, workspaceId, [runner.runnerId]).map(({ runId }) => runId);
  return showRunner(runner, { ...runs, reading, workspaceId, held, seen: held.filter((runId) => runs.sees(runId)) });
}
