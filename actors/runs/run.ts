import type { Address } from "../../runtime/cells/address.js";
import type { CallTally } from "../run-facts/call-tally.js";
import type { RunEnding, RunFailure, RunStep, Spent } from "../runners/protocol.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { RunOwnerKey } from "./run-owner.js";

export type RunState = "queued" | "claimed" | "running" | "ended";
export type RunOutcome = "completed" | "failed" | "stopped" | "abandoned" | "withdrawn" | "superseded";

/** A run; its config, steps and diffs have rows of their own. */
export interface RunRow {
  readonly id: string;
  readonly owner: RunOwnerKey;
  /** The address of the owner, for the run's reports. */
  readonly ownerAddress: Address;
  /** The owner's id if the owner is a task; otherwise null. */
  readonly taskId: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly state: RunState;
  readonly outcome: RunOutcome | null;
  /** The reason for the end, in a sentence, if the outcome does not explain it. */
  readonly reason: string | null;
  readonly runnerId: string | null;
  /** Increases with each claim. Messages with another fence have no effect. */
  readonly fence: number;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** The dispatcher lane in which the run waits for a runner; absent for `work`. */
  readonly lane?: string;
  readonly passesTo: readonly string[];
  readonly steps: number;
  /** Number of messages to the run that its agent has not received; absent for none. */
  readonly unheard?: number;
  /**
   * The sum over the steps so far, in the currency of the first step that named one; after the end, the runner's final
   * report.
   */
  readonly spent: Spent | null;
  /** The latest decided handover: its station, and the reason for a refusal (null if accepted). */
  readonly handover: { readonly to: string; readonly refused: string | null } | null;
  readonly ending: RunEnding | null;
  readonly failure: RunFailure | null;
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly output: string } | null;
  readonly queuedAtMs: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Counts of the calls and skills in the run's steps; absent for none. */
  readonly calls?: CallTally;
  /** The model that the agent reports; absent for none. */
  readonly reportedModel?: string;
  /** The results of the pushes at the run's end; absent for none. */
  readonly pullRequests?: readonly PushedChange[];
}

/** The push result of a run's change in one repository. */
interface PushedChange {
  readonly repository: string;
  /** Null if no pull request was asked. */
  readonly pullRequestId: string | null;
  /** The reason why the change was not pushed; null if it was. */
  readonly refused: string | null;
}

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
  /** The requests to pull requests that still wait for a result. */
  readonly pushes: readonly PendingPush[];
  /** The repositories that the run still has to push before it ends. */
  readonly held: readonly string[];
  /** The reason why the agent's last pull request request failed, by repository; absent for none. */
  readonly unmet?: Readonly<Record<string, string>>;
  /**
   * Whether the agent has asked for an approval or called a tool. Until then the run has no approvals and no open
   * calls. Absent in runs of earlier releases: assume yes.
   */
  readonly hasAsked?: boolean;
}

/** A request to a pull request that has no result yet. */
export interface PendingPush {
  readonly repository: string;
  readonly pullRequestId: string;
  /** The id of the agent's request; null at the end of the run. */
  readonly wish: string | null;
  /** The id of the push order that the runner received; null until the push is allowed. */
  readonly push: string | null;
}

/** A handover that the gate has not answered yet. */
interface PendingHandover {
  readonly id: string;
  readonly to: string;
  readonly question: string;
}
