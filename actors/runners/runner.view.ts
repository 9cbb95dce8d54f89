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
  })
  .meta({ title: "runner" });

/** A runner, with those of its runs that `sees` returns true for. */
export function runnerView(
  reading: Reading,
  workspaceId: string,
  runner: RunnerRow,
  sees: (runId: string) => boolean,
): z.output<typeof runnerSchema> {
  const { runnerId, poolId, name, labels, harnesses, connected, since, slots } = runner;
  const runs = claims.list(reading, workspaceId, [runnerId]).map(({ runId }) => runId);
  return {
    ...{ id: runnerId, name, connected, since, slots },
    pool: findResource<RunnerPoolFields>(reading, workspaceId, "runner-pool", poolId)?.fields.key ?? null,
    labels: [...labels],
    harnesses: [...harnesses],
    free: Math.max(0, slots - runs.length),
    held: runs.length,
    runs: runs.filter(sees),
  };
}
