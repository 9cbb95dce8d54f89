import type { IntegrationFields } from "../integrations/definition.js";
import type { IntegrationRequestCode } from "../integrations/requests/integration-request.js";
import type { StoredText } from "../tables/text-blobs.js";

/** A run of an action: what a binding did about a task, or a schedule. Its states stand in the machine. */

/** What happens to a task that bindings act on. */
export type BindingEvent = IntegrationFields["on"][number]["event"];

export const actionRunStates = ["attempting", "waiting", "done", "failed"] as const;
export type ActionRunState = (typeof actionRunStates)[number];

/** One request of an action, or why none was made. */
export interface ActionAttempt {
  readonly n: number;
  readonly at: string;
  readonly tookMs: number;
  readonly method: string | null;
  /** Scheme, host and port. */
  readonly origin: string | null;
  /** Null when nothing responded. */
  readonly status: number | null;
  /** The beginning of the answer, as JSON text where it was JSON, without secrets; of the last attempt alone. */
  readonly body: string;
  readonly code: IntegrationRequestCode | null;
  /** Why it failed; of a success, what of its answer has no value. */
  readonly reason: string | null;
  readonly retryAfterMs: number | null;
}

/** What a binding was about. */
export interface BoundTask {
  /** Its index in `on` when the task's event happened. */
  readonly index: number;
  readonly event: BindingEvent;
  readonly taskId: string;
  /** Whether the task asks for the approval of a call. */
  readonly asksApproval: boolean;
}

export interface ActionRunRow {
  readonly id: string;
  readonly integrationId: string;
  readonly teamId: string;
  /** The action's name. */
  readonly action: string;
  /** Null for a schedule's. */
  readonly binding: BoundTask | null;
  readonly state: ActionRunState;
  readonly begunAt: string;
  readonly endedAt: string | null;
  /** When it is tried again, while it waits. */
  readonly retryAt: string | null;
  /** In order, at most 8. */
  readonly attempts: readonly ActionAttempt[];
  /** What its expressions see, as JSON text of an object. */
  readonly values: StoredText;
  /** The run that it does again, or null. */
  readonly resends: string | null;
  /** The last run that did it again, or null. */
  readonly resentAs: string | null;
}

/** Whether it is over. */
export function isOver(state: ActionRunState): boolean {
  return state === "done" || state === "failed";
}

/** Bytes kept of an answer. */
export const MAX_BODY_BYTES = 4_096;
/** Runs of an integration that are stored: the latest. */
export const MAX_RUNS = 10_000;
/** How long runs are stored, in milliseconds. */
export const STORED_MS = 30 * 24 * 60 * 60 * 1_000;
/** How long a request of an action may take, in milliseconds. */
export const ACTION_TIMEOUT_MS = 30_000;
