import type { Fact } from "../../runtime/turn.js";
import type { EventTask } from "./catalogue.js";

/** What happens to tasks that bindings of integrations act on, and hooks do not. */
export const taskHappenings = ["task.asked", "task.finished", "task.closed"] as const;

/** Something that happened to a task, with the task as it was then. */
export interface TaskHappening {
  readonly on: (typeof taskHappenings)[number];
  /** Id of what happened (`occ_...`). */
  readonly occurrence: string;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly task: EventTask;
  /** What it asks its assignee; null unless it is `task.asked`. */
  readonly ask: TaskAsk | null;
  /** ISO 8601. */
  readonly at: string;
  /** The hook occurrences and events that led to it, oldest first. */
  readonly causes: readonly string[];
}

export interface TaskAsk {
  readonly body: string;
  /** Whether it asks for the approval of a call. */
  readonly isApproval: boolean;
}

/** The fact of it, published under its name. */
export interface TaskHappened extends Fact {
  readonly name: TaskHappening["on"];
  readonly happening: TaskHappening;
}
