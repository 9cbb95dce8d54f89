import type { IntegrationFields } from "../../integrations/definition.js";
import type { IntegrationRequestCode } from "../../integrations/requests/integration-request.js";
import type { StoredText } from "../../tables/text-blobs.js";

/** An action run, which a binding starts for a task, or a schedule starts. The machine documents its states. */

/** The task events that bindings handle. */
export type BindingEvent = IntegrationFields["on"][number]["event"];

export const actionRunStates = ["attempting", "waiting", "done", "failed"] as const;
export type ActionRunState = (typeof actionRunStates)[number];

/** One request of an action, or the reason why none was sent. */
export interface ActionAttempt {
  readonly n: number;
  readonly at: string;
  readonly tookMs: number;
  readonly method: string | null;
  /** Scheme, host and port. */
  readonly origin: string | null;
  /** Null when no response arrived. */
  readonly status: number | null;
  /**
   * The start of the response body, without secrets; JSON text if the response is JSON. Empty for all attempts but the
   * last.
   */
  readonly body: string;
  readonly code: IntegrationRequestCode | null;
  /** Why the attempt failed. For a success: which captures or marks have no value. */
  readonly reason: string | null;
  readonly retryAfterMs: number | null;
}

/** The task and event that started a binding's run. */
export interface BoundTask {
  /** The binding's index in `on` when the event occurred. */
  readonly index: number;
  readonly event: BindingEvent;
  readonly taskId: string;
  /** Whether the task asks a user to approve a call. */
  readonly asksApproval: boolean;
}

export interface ActionRunRow {
  readonly id: string;
  readonly integrationId: string;
  readonly teamId: string;
  /** The action's name. */
  readonly action: string;
  /** Null for a scheduled run. */
  readonly binding: BoundTask | null;
  readonly state: ActionRunState;
  readonly begunAt: string;
  readonly endedAt: string | null;
  /** When the next attempt starts; set while the run waits. */
  readonly retryAt: string | null;
  /** In order, at most 8. */
  readonly attempts: readonly ActionAttempt[];
  /** The values for the action's expressions, as the JSON text of an object. */
  readonly values: StoredText;
  /** The earlier run that this run repeats, or null. */
  readonly resends: string | null;
  /** The latest run that repeats this run, or null. */
  readonly resentAs: string | null;
}

/** Returns whether a run in this state has ended. */
export function isOver(state: ActionRunState): boolean {
  return state === "done" || state === "failed";
}

/** Maximum number of bytes stored from a response body. */
export const MAX_BODY_BYTES = 4_096;
/** Maximum number of stored runs per integration; the latest are kept. */
export const MAX_RUNS = 10_000;
/** How long runs are stored, in milliseconds. */
export const STORED_MS = 30 * 24 * 60 * 60 * 1_000;
/** Timeout of an action's request, in milliseconds. */
export const ACTION_TIMEOUT_MS = 30_000;
