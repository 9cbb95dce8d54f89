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
    /** Key of its pool; null once the pool is gone. */
    pool: z.string().nullable(),
    labels: z.array(z.string()),
    harnesses: z.array(z.string()),
    /** False while it is away: its lease has not ended yet, and it gets no new runs. */
    connected: z.boolean(),
    /** The time it last connected. */
    since: z.string(),
    /** How many runs it takes at once; 0 while it drains. */
    slots: z.int(),
    free: z.int(),
    /** Number of runs that it holds. */
    held: z.int(),
    /** Ids of those runs that the caller may read. */
    runs: z.array(z.string()),
    waiting: z.array(z.string()).describe("Those of `runs` that hold their slot while a person is to approve a call."),
  })
  .meta({ title: "runner" });

/** What the view of a runner needs to know of its runs. */
interface RunsOfRunner {
  /** Whether the caller may read the run; the others are only counted. */
  sees(runId: string): boolean;
  /** Whether the run waits for a person's approval. */
  waits(runId: string): boolean;
}

/** A runner, with those of its runs that the caller may read. */
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
    ...{ id: runnerId, name, connected, since, slots },
    pool: findResource<RunnerPoolFields>(reading, workspaceId, "runner-pool", poolId)?.fields.key ?? null,
    labels: [...labels],
    harnesses: [...harnesses],
    free: Math.max(0, slots - runs.length),
    held: runs.length,
    runs: seen,
    waiting: seen.filter(waits),
  };
}
