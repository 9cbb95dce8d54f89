import { z } from "zod";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { IntegrationRequestCode } from "../../integrations/requests/integration-request.js";
import type { StoredText } from "../../tables/text-blobs.js";
import type { Stored } from "../../view.js";

/** An action run. A binding starts it for a task, or a schedule starts it. The machine documents the states. */

/** The task events that bindings handle. */
export type BindingEvent = IntegrationFields["on"][number]["event"];

export const actionRunStates = ["attempting", "waiting", "done", "failed"] as const;
export const actionAttemptSchema = z.strictObject({
  n: z.int(),
  at: z.string(),
  tookMs: z.number(),
  method: z.string().nullable().describe("Null when no request was made."),
  origin: z.string().nullable().describe("Scheme, host and port that it went to."),
  status: z.int().nullable().describe("Null when nothing responded."),
  body: z
    .string()
    .nullable()
    .describe(
      "The first 4 KiB of the answer, as JSON text where it is JSON, secrets masked; null when nothing responded, and " +
        "of all attempts but the last, whose answers are not kept.",
    ),
  code: z.string().nullable(),
  reason: z.string().nullable().describe("Why it failed; of a success, which captures and marks have no value."),
  retryAfterMs: z.number().nullable().describe("How long the host asked to be left alone, at most an hour."),
});

/** An action run as the API returns it. */
export const actionRunSchema = z
  .strictObject({
    id: z.string(),
    integrationId: z.string(),
    action: z.string(),
    event: z
      .enum(["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"])
      .nullable()
      .describe("What happened to the task; null for a schedule's."),
    binding: z.int().nullable().describe("The binding's index in `on` then; null for a schedule's."),
    taskId: z.string().nullable(),
    state: z.enum(actionRunStates),
    begunAt: z.string(),
    endedAt: z.string().nullable(),
    retryAt: z.string().nullable().describe("When it is tried again, while it waits."),
    resends: z.string().nullable().describe("The run that it does again."),
    resentAs: z.string().nullable().describe("The last run that did it again."),
    attempts: z.array(actionAttemptSchema),
  })
  .meta({ title: "action-run" });

export type ActionRunState = (typeof actionRunStates)[number];

/** One request of an action, or the reason why none was sent. */
export interface ActionAttempt extends Stored<typeof actionAttemptSchema> {
  /**
   * The start of the response body, with secrets masked; JSON text if the response is JSON. Empty for all attempts
   * except the last.
   */
  readonly body: string;
  readonly code: IntegrationRequestCode | null;
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

/** A run of an action, with at most 8 attempts in order. */
export interface ActionRunRow extends Stored<typeof actionRunSchema, "event" | "binding" | "taskId" | "attempts"> {
  readonly teamId: string;
  /** Null for a scheduled run. */
  readonly binding: BoundTask | null;
  readonly attempts: readonly ActionAttempt[];
  /** The values for the action's expressions, as the JSON text of an object. */
  readonly values: StoredText;
}

/** Returns whether a run in this state has ended. */
export function isOver(state: ActionRunState): boolean {
  return state === "done" || state === "failed";
}

/** Maximum number of bytes stored from a response body. */
export const MAX_BODY_BYTES = 4_096;
/** Maximum number of stored runs per integration. The oldest finished runs are removed first. */
export const MAX_RUNS = 10_000;
/** Maximum time that finished runs are stored, in milliseconds. */
export const STORED_MS = 30 * 24 * 60 * 60 * 1_000;
/** Timeout of an action's request, in milliseconds. */
export const ACTION_TIMEOUT_MS = 30_000;
