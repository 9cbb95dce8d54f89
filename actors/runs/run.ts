import type { Address } from "../../runtime/address.js";
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
  /** Where the run sends its reports to the owner. */
  readonly ownerAddress: Address;
  /** The owner's id if the owner is a task, else null. */
  readonly taskId: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly state: RunState;
  readonly outcome: RunOutcome | null;
  /** Why the run ended, in a sentence, where the outcome does not say it. */
  readonly reason: string | null;
  readonly runnerId: string | null;
  /** Rises with each claim; a message with another fence changes nothing. */
  readonly fence: number;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** The lane in which it waits for a runner; absent for `work`. */
  readonly lane?: string;
  readonly passesTo: readonly string[];
  readonly steps: number;
  /** Number of messages to the run that its agent did not get; absent for none. */
  readonly unheard?: number;
  /** The sum over its steps so far, in the currency of the first that named one; at the end what the runner reports. */
  readonly spent: Spent | null;
  /** The last handover that was decided: its station, and why it was refused (null when accepted). */
  readonly handover: { readonly to: string; readonly refused: string | null } | null;
  readonly ending: RunEnding | null;
  readonly failure: RunFailure | null;
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly output: string } | null;
  readonly queuedAtMs: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** What its steps say of calls and skills; absent for nothing. */
  readonly calls?: CallTally;
  /** The model that the agent says it used; absent for none. */
  readonly reportedModel?: string;
  /** What became of its changes at its end, where they are pushed; absent for nothing. */
  readonly pullRequests?: readonly PushedChange[];
}

/** What became of a run's change in one repository. */
interface PushedChange {
  readonly repository: string;
  /** Null when none was asked. */
  readonly pullRequestId: string | null;
  /** Why it was not pushed; null when it was. */
  readonly refused: string | null;
}

/** A step as it is stored. */
export interface StepRow extends RunStep {
  /** `agent` or `person <id>`; absent in rows from before people sent messages to runs, meaning the agent. */
  readonly from?: string;
  readonly at: string;
}

/** The state of a run between turns. Small on purpose: readers of a run use its row. */
export interface RunContext {
  readonly fence: number;
  readonly runnerId: string | null;
  /** Whether the runner was given the run. */
  readonly assigned: boolean;
  readonly handover: PendingHandover | null;
  /** Number of messages that people sent to it so far. */
  readonly said: number;
  /** Whether its runner was told to stop. */
  readonly stopping: boolean;
  /** Pull requests that it asked and that have not told it what became of it. */
  readonly pushes: readonly PendingPush[];
  /** Repositories whose changes are pushed before it ends, and whose turn has not come. */
  readonly held: readonly string[];
  /** Why its agent's last wish in a repository was not met, by the repository; absent for none. */
  readonly unmet?: Readonly<Record<string, string>>;
  /**
   * Whether its agent has asked for leave or called a tool: before that it has neither approvals nor open calls. Absent in
   * runs of earlier releases, which may have.
   */
  readonly hasAsked?: boolean;
}

/** What a pull request was asked. */
export interface PendingPush {
  readonly repository: string;
  readonly pullRequestId: string;
  /** The id of the agent's wish; null at the end of the run. */
  readonly wish: string | null;
  /** The id of the push that the runner was given; null until it is allowed. */
  readonly push: string | null;
}

/** A handover that the gate has not answered yet. */
interface PendingHandover {
  readonly id: string;
  readonly to: string;
  readonly question: string;
}
