import { z } from "zod";
import type { Address } from "../../runtime/cells/address.js";
import type { CallTally } from "../run-facts/call-tally.js";
import { endingSchema, failureSchema, type RunStep, spentSchema } from "../runners/protocol.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { Stored } from "../view.js";
import type { RunOwnerKey } from "./run-owner.js";

/** The fields of the run's own row, as its stream publishes them. */
export const runRowSchema = z.strictObject({
  id: z.string(),
  lineId: z.string(),
  stationId: z.string(),
  state: z.enum(["queued", "claimed", "running", "ended"]),
  outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
  /** The reason for the end, in a sentence, if the outcome does not explain it. */
  reason: z.string().nullable(),
  runnerId: z.string().nullable(),
  fingerprint: z.string(),
  steps: z.int(),
  /** The latest decided handover: its station, and the reason for a refusal (null if accepted). */
  handover: z.strictObject({ to: z.string(), refused: z.string().nullable() }).nullable(),
  ending: endingSchema.nullable(),
  failure: failureSchema.nullable(),
  check: z.strictObject({ passed: z.boolean(), exitCode: z.int().nullable(), output: z.string() }).nullable(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  taskId: z.string().describe("The task of the run; empty for a run without a task, such as a replay run."),
  /**
   * The sum over the steps so far, in the currency of the first step that named one; after the end, the runner's final
   * report.
   */
  spent: spentSchema.nullable(),
  /** Number of messages to the run that its agent has not received. */
  unheard: z.int(),
  /** The run's requirements for its runner. */
  needs: z.strictObject({ poolId: z.string().nullable(), labels: z.array(z.string()), harness: z.string() }),
  station: z.string(),
  queuedAt: z.string(),
  pullRequests: z
    .array(
      z.strictObject({ repository: z.string(), pullRequestId: z.string().nullable(), refused: z.string().nullable() }),
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
  /** Absent for none. */
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

/** The state of a run between turns. Kept small: readers use the run's row instead. */
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
   * Whether the agent has asked for an approval or called a tool. Until then the run has no approvals and no open
   * calls. Absent in runs of earlier releases: assume yes.
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
