import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { EventTask } from "../events/catalogue.js";
import type { TaskAsk } from "../events/task-happening.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { BindingEvent } from "./action-run.js";

/** Messages to a run of an action; the id in the address is its own. Each begins it, once. */

/** Something happened to a task that a binding acts on. Nothing begins where the binding is not for this task. */
export interface RunBinding extends Message {
  readonly type: "action.bound";
  readonly integrationId: string;
  readonly index: number;
  readonly event: BindingEvent;
  /** As it was then. */
  readonly task: EventTask;
  /** What it asks, or null. */
  readonly ask: TaskAsk | null;
}

/** A schedule's action is due. The schedule is told when the run is over. */
export interface RunScheduled extends Message {
  readonly type: "action.due";
  readonly integrationId: string;
  readonly teamId: string;
  readonly action: string;
}

/** Does again what an earlier run of the integration did, with what its expressions saw then. */
export interface ResendRun extends Answered<RunResent | Refusal>, Keyed {
  readonly type: "action.resend";
  readonly integrationId: string;
  readonly runId: string;
}

export interface RunResent {
  readonly id: string;
  /** Whether it was taken before, under the same key. */
  readonly replayed: boolean;
}

/** A run of an action in a workspace. */
export const actionRunRef = reference<RunBinding | RunScheduled | ResendRun>("action-run");
