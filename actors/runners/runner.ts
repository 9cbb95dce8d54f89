import { z } from "zod";
import type { Stored } from "../view.js";

/** A runner as the API returns it. */
export const runnerSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    /** False while the runner is away: its lease has not expired, and it gets no new runs. */
    connected: z.boolean(),
    /** Time of the last connection. */
    since: z.string(),
    /** Maximum number of simultaneous runs; 0 while the runner drains. */
    slots: z.int(),
    /** Key of the runner's pool; null if the pool no longer exists. */
    pool: z.string().nullable(),
    labels: z.array(z.string()),
    harnesses: z.array(z.string()),
    free: z.int(),
    /** Number of runs that the runner holds. */
    held: z.int(),
    /** Ids of the held runs that the caller may read. */
    runs: z.array(z.string()),
    waiting: z
      .array(z.string())
      .describe("The ids in `runs` whose runs hold a slot while they wait for a person to approve a call."),
  })
  .meta({ title: "runner" });

type StoredRunner = Stored<typeof runnerSchema, "id" | "pool" | "free" | "held" | "runs" | "waiting">;

/** The latest offer of a runner. Written by the dispatcher. */
export interface RunnerRow extends StoredRunner {
  readonly runnerId: string;
  readonly poolId: string;
  /** The protocol features that the runner supports; absent in rows of earlier releases. */
  readonly features?: readonly string[];
}
