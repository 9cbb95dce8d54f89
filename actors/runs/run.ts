import { z } from "zod";
import type { Address } from "../../runtime/cells/address.js";
import type { CallTally } from "../run-facts/call-tally.js";
import { endingSchema, failureSchema, type RunStep, spentSchema } from "../runners/protocol.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { Stored } from "../view.js";
import type { RunOwnerKey } from "./run-owner.js";

/** The fields of the run's own row, as published in the run's stream. */
export const runRowSchema = z.strictObject({
  id: z.string().describe("The id of the run (`run_…`)."),
  lineId: z.string().describe("The id of the task's line (`line_…`)."),
  stationId: z.string().describe("The id of the station that the run works at."),
  state: z
    .enum(["queued", "claimed", "running", "ended"])
    .describe(
      "`queued`: waits for a runner. `claimed`: a runner prepares the checkouts. `running`: the agent works. " +
        "`ended`: see `outcome`.",
    ),
  outcome: z
    .enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"])
    .nullable()
    .describe(
      "How the run ended; null until then. `abandoned`: the runner was lost. `withdrawn`: the task was closed, or a " +
        "hook refused the start. `superseded`: a person moved the task meanwhile.",
    ),
  reason: z
    .string()
    .nullable()
    .describe("The reason for the end, in one sentence, if the outcome does not explain it; otherwise null."),
  runnerId: z.string().nullable().describe("The runner that claimed the run; null while the run is queued."),
  fingerprint: z
    .string()
    .describe("SHA-256 of the run's config, in hex. Runs with the same config have the same fingerprint."),
  steps: z.int().describe("Number of steps that the runner has reported so far."),
  handover: z
    .strictObject({
      to: z.string().describe("The key of the station that the agent wants to hand over to."),
      refused: z.string().nullable().describe("Why the handover was refused; null if it was accepted."),
    })
    .nullable()
    .describe("The latest decided handover; null if there is none."),
  ending: endingSchema
    .nullable()
    .describe("The result that the agent reported; null unless the agent completed its work."),
  failure: failureSchema.nullable().describe("Why the run failed; null unless its outcome is `failed`."),
  check: z
    .strictObject({
      passed: z.boolean().describe("Whether the check command exited with 0."),
      exitCode: z.int().nullable().describe("The exit code of the check command; null if it has none."),
      output: z.string().describe("The end of the check command's output, at most 65,536 characters."),
    })
    .nullable()
    .describe("The result of the station's check command; null if the station has no check, or if it did not run."),
  startedAt: z.string().nullable().describe("When the agent started, as an RFC 3339 time; null before that."),
  endedAt: z.string().nullable().describe("When the run ended, as an RFC 3339 time; null until it ends."),
  taskId: z.string().describe("The task of the run; empty for a run without a task, such as a replay run."),
  spent: spentSchema
    .nullable()
    .describe(
      "The cost so far: the sum over the steps, in the currency of the first step that named one. After the end, the " +
        "runner's final report. Null if the agent reported no cost.",
    ),
  unheard: z.int().describe("Number of messages to the run that its agent has not received."),
  needs: z
    .strictObject({
      poolId: z.string().nullable().describe("The runner pool that the run needs; null for any pool."),
      labels: z.array(z.string()).describe("The labels that a runner must have to claim the run."),
      harness: z.string().describe("The harness that a runner must offer to claim the run."),
    })
    .describe("What a runner must have to claim this run."),
  station: z.string().describe("The key of the station that the run works at."),
  queuedAt: z.string().describe("When the run entered the queue, as an RFC 3339 time."),
  pullRequests: z
    .array(
      z.strictObject({
        repository: z.string().describe("The repository with changes to push, as `owner/name`."),
        pullRequestId: z.string().nullable().describe("The pull request of the changes (`pr_…`); null for none."),
        refused: z.string().nullable().describe("Why the changes were not pushed; null if they were pushed."),
      }),
    )
    .optional()
    .describe(
      "The pull request of each repository with changes to push. `refused` is the reason if the changes were " +
        "not pushed. Absent if there is nothing to push.",
    ),
});

type StoredRun = Stored<typeof runRowSchema, "taskId" | "unheard" | "needs" | "station" | "queuedAt">;

/** A run; its config, steps and diffs have rows of their own. */
export interface RunRow extends StoredRun {
  readonly owner: RunOwnerKey;
  /** The address of the owner, for the run's reports. */
  readonly ownerAddress: Address;
  /** The owner's id if the owner is a task; otherwise null. */
  readonly taskId: string | null;
  readonly teamId: string;
  readonly stationKey: string;
  /** Increases with each claim. Messages with another fence have no effect. */
  readonly fence: number;
  readonly needs: RunNeeds;
  /** The dispatcher lane in which the run waits for a runner; absent for `work`. */
  readonly lane?: string;
  readonly passesTo: readonly string[];
  /** Number of messages that the agent has not received; absent for none. */
  readonly unheard?: number;
  readonly queuedAtMs: number;
  /** Counts of the calls and skills in the run's steps; absent for none. */
  readonly calls?: CallTally;
  /** The model that the agent reports; absent for none. */
  readonly reportedModel?: string;
}

export type RunOutcome = NonNullable<RunRow["outcome"]>;

/** A step as readers see it, with its sender and time. */
export interface StepRow extends RunStep {
  /** `agent` or `person <id>`; absent in old rows, which all come from the agent. */
  readonly from?: string;
  readonly at: string;
}

/** The state of a run between turns. Kept small: other code reads the run's row instead. */
export interface RunContext {
  readonly fence: number;
  readonly runnerId: string | null;
  /** Whether the run was assigned to the runner. */
  readonly assigned: boolean;
  readonly handover: PendingHandover | null;
  /** Number of messages that people have sent to the run. */
  readonly said: number;
  /** Whether the runner received a stop request. */
  readonly stopping: boolean;
  /** The run's pushes for which the pull request has not reported a result yet. */
  readonly pushes: readonly PendingPush[];
  /** The repositories that the run still has to push before it ends. */
  readonly held: readonly string[];
  /** The reason why the agent's last request for a pull request failed, by repository; absent for none. */
  readonly unmet?: Readonly<Record<string, string>>;
  /**
   * Whether the agent has asked for an approval or called a tool. If false, the run has no approvals and no open calls.
   * Absent in runs of earlier releases: such a run may have both.
   */
  readonly hasAsked?: boolean;
}

/** A run's request to push to a pull request. The pull request has not reported the result yet. */
export interface PendingPush {
  readonly repository: string;
  readonly pullRequestId: string;
  /** The id of the agent's request; null for a push at the run's end. */
  readonly wish: string | null;
  /**
   * The id of the push order that the runner received; null until the push is allowed, and after the runner's report.
   */
  readonly push: string | null;
}

/** A handover that the gate has not answered yet. */
interface PendingHandover {
  readonly id: string;
  readonly to: string;
  readonly question: string;
}
