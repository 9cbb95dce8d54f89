import type { Fact } from "../../runtime/turns/turn.js";
import type { EventTask } from "./catalogue.js";

/** Names of task events that integration bindings handle. Hooks do not handle these events. */
export const taskHappenings = ["task.asked", "task.finished", "task.closed"] as const;

/** A task event for integration bindings, with the task at that time. */
export interface TaskHappening {
  readonly on: (typeof taskHappenings)[number];
  /** The event's id (`occ_...`). */
  readonly occurrence: string;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly task: EventTask;
  /** The task's question to its assignee; null unless `on` is `task.asked`. */
  readonly ask: TaskAsk | null;
  /** ISO 8601. */
  readonly at: string;
  /** The hook occurrences and events that caused this event, oldest first. */
  readonly causes: readonly string[];
}

export interface TaskAsk {
  readonly body: string;
  /** Whether the task asks for the approval of a call. */
  readonly isApproval: boolean;
}

/** The fact of a task event, published under the event's name. */
export interface TaskHappened extends Fact {
  readonly name: TaskHappening["on"];
  readonly happening: TaskHappening;
}
