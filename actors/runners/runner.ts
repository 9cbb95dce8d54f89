import { z } from "zod";
import type { Stored } from "../view.js";

/** A runner as the API returns it. */
export const runnerSchema = z
  .strictObject({
    id: z.string().describe("The id of the runner (`runner_…`)."),
    name: z.string().describe("The name that the runner was started with, by default its host name."),
    connected: z
      .boolean()
      .describe("False while the runner is away: its lease has not expired, and it gets no new runs."),
    since: z.string().describe("When the runner last connected, as an RFC 3339 time."),
    slots: z.int().describe("Maximum number of simultaneous runs; 0 while the runner drains."),
    pool: z.string().nullable().describe("The key of the runner's pool; null if the pool no longer exists."),
    labels: z.array(z.string()).describe("The runner's labels, which stations can require."),
    harnesses: z.array(z.string()).describe("The harnesses that the runner can run, such as `command`."),
    free: z.int().describe("Number of slots without a run."),
    held: z.int().describe("Number of runs that the runner holds, including those that the caller may not read."),
    runs: z.array(z.string()).describe("The ids of the held runs that the caller may read."),
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
