import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import { claims, type RunnerRow } from "./runner.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";

/** A runner as the API returns it. */
export const runnerSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    /** Key of the runner's pool; null if the pool no longer exists. */
    pool: z.string().nullable(),
    labels: z.array(z.string()),
    harnesses: z.array(z.string()),
    /** False while the runner is away: its lease has not expired, and it gets no new runs. */
    connected: z.boolean(),
    /** Time of the last connection. */
    since: z.string(),
    /** Maximum number of simultaneous runs; 0 while the runner drains. */
    slots: z.int(),
    free: z.int(),
    /** Number of runs that the runner holds. */
    held: z.int(),
    /** Ids of the held runs that the caller may read. */
    runs: z.array(z.string()),
    waiting: z.array(z.string()).describe("Those of `runs` that hold their slot while a person is to approve a call."),
  })
  .meta({ title: "runner" });

/** The functions that the view of a runner needs about its runs. */
interface RunsOfRunner {
  /** Whether the caller may read the run. Other runs are only counted. */
  sees(runId: string): boolean;
  /** Whether the run waits for a person's approval. */
  waits(runId: string): boolean;
}

/** Returns a runner, with the runs that the caller may read. */
export function runnerView(
  reading: Reading,
  workspaceId: string,
  runner: RunnerRow,
  { sees, waits }: RunsOfRunner,
): z.output<typeof runnerSchema> {
  const { runnerId, poolId, name, labels, harnesses, connected, since, slots } = runner;
  const runs = claims.list(reading, workspaceId, [runnerId]).map(({ runId }) => runId);
  const seen = runs.filter(sees);
  return {
    id: runnerId,
    name,
    connected,
    since,
    slots,
    pool: findResource<RunnerPoolFields>(reading, workspaceId, "runner-pool", poolId)?.fields.key ?? null,
    labels: [...labels],
    harnesses: [...harnesses],
    free: Math.max(0, slots - runs.length),
    held: runs.length,
    runs: seen,
    waiting: seen.filter(waits),
  };
}
