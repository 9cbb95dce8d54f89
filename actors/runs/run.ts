import type { Address } from "../../runtime/address.js";
import type { RunEnding, RunFailure, RunStep, Spent } from "../runners/protocol.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { RunOwnerKey } from "./run-owner.js";

export type RunState = "queued" | "claimed" | "running" | "ended";
export type RunOutcome = "completed" | "failed" | "stopped" | "abandoned" | "withdrawn" | "superseded";

/** A run as it is read; its config, steps and diffs stand in rows of their own. */
export interface RunRow {
  readonly id: string;
  readonly owner: RunOwnerKey;
  /** Where the owner is told what becomes of the run. */
  readonly ownerAddress: Address;
  /** The owner's id where that is a task, else null. */
  readonly taskId: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly state: RunState;
  readonly outcome: RunOutcome | null;
  /** Why it ended so, in a sentence, where the outcome does not say it. */
  readonly reason: string | null;
  readonly runnerId: string | null;
  /** Rises with each claim; a message that carries another changes nothing. */
  readonly fence: number;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** Where it waits for a runner; absent for `work`. */
  readonly lane?: string;
  readonly passesTo: readonly string[];
  readonly steps: number;
  /** How many of the messages that were said to it its agent was not given; absent for none. */
  readonly unheard?: number;
  /** What its steps said so far, in the currency of the first that said any; at the end what the runner reports. */
  readonly spent: Spent | null;
  /** The last handover that was decided on: where to, and why it may not be given (null when it may). */
  readonly handover: { readonly to: string; readonly refused: string | null } | null;
  readonly ending: RunEnding | null;
  readonly failure: RunFailure | null;
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly output: string } | null;
  readonly queuedAtMs: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** A step as it is kept. */
export interface StepRow extends RunStep {
  /** `agent`, `person <id>`; absent in rows from before people spoke to runs, for the agent. */
  readonly from?: string;
  readonly at: string;
}
