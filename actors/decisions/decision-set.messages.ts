import { reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";
import type { Merge } from "./decision.table.js";

/** Stores the decisions drafted from a completed run; those that exceed a limit are dropped. */
export interface DraftDecisions extends Message {
  readonly type: "decisions.draft";
  readonly runId: string;
  readonly decisions: readonly unknown[];
}

/** The task's pull request was merged. */
export interface MergeDecisions extends Message, Merge {
  readonly type: "decisions.merged";
}

/** The task's pull request was closed without merging. */
export interface DiscardDecisions extends Message {
  readonly type: "decisions.closed";
}

export type DecisionSetMessage = DraftDecisions | MergeDecisions | DiscardDecisions;

/** What was decided in a task: by its workspace and its id. */
export const decisionSetRef = reference<DecisionSetMessage>("decisions");
