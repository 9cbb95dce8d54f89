import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { EventTask } from "../../events/catalogue.js";
import type { TaskAsk } from "../../events/task-happening.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { BindingEvent } from "./action-run.js";

/**
 * Messages that start an action run. Each message is sent to the address of the new run, which contains the run's id.
 * Only the first message to an address starts a run.
 */

/** Starts a run for a task event that a binding handles. No run starts if the binding does not apply to the task. */
export interface RunBinding extends Message {
  readonly type: "action.bound";
  readonly integrationId: string;
  readonly index: number;
  readonly event: BindingEvent;
  /** The task at the time of the event. */
  readonly task: EventTask;
  /** The question that the task asks; null if it asks none. */
  readonly ask: TaskAsk | null;
}

/** Starts a run of a scheduled action. The run notifies the schedule when the run ends. */
export interface RunScheduled extends Message {
  readonly type: "action.due";
  readonly integrationId: string;
  readonly teamId: string;
  readonly action: string;
}

/** Repeats an earlier run of the same integration. The new run uses the expression values of the earlier run. */
export interface ResendRun extends Answered<RunResent | Refusal>, Keyed {
  readonly type: "action.resend";
  readonly integrationId: string;
  readonly runId: string;
}

export interface RunResent {
  readonly id: string;
  /** Whether the service already accepted a request with the same idempotency key. */
  readonly replayed: boolean;
}

/** An action run, by its workspace and id. */
export const actionRunRef = reference<RunBinding | RunScheduled | ResendRun>("action-run");
