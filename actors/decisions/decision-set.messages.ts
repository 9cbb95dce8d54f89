import { reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";
import type { Merge } from "./decision.table.js";

/**
 * Stores the decisions that were drafted from a completed run. Decisions that are malformed or exceed a limit are
 * dropped.
 */
export interface DraftDecisions extends Message {
  readonly type: "decisions.draft";
  readonly runId: string;
  readonly decisions: readonly unknown[];
}

/** Sent when the task's pull request is merged. */
export interface MergeDecisions extends Message, Merge {
  readonly type: "decisions.merged";
}

/** Sent when the task's pull request is closed without merging. */
export interface DiscardDecisions extends Message {
  readonly type: "decisions.closed";
}

/** The messages to a task's decisions. */
export type DecisionSetMessage = DraftDecisions | MergeDecisions | DiscardDecisions;

/** The decisions of a task, addressed by the task's workspace and id. */
export const decisionSetRef = reference<DecisionSetMessage>("decisions");
