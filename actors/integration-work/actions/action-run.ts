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
  n: z.int().describe("The number of the attempt in its action run, from 1."),
  at: z.string().describe("When the attempt started, as an RFC 3339 time."),
  tookMs: z.number().describe("How long the attempt took, in milliseconds."),
  method: z.string().nullable().describe("The method of the request; null if no request was sent."),
  origin: z.string().nullable().describe("The scheme, host and port of the request; null if no request was sent."),
  status: z.int().nullable().describe("The status of the response; null if there was no response."),
  body: z
    .string()
    .nullable()
    .describe(
      "The first 4 KiB of the response, with secrets masked; JSON text if the response is JSON. Null if there " +
        "was no response, and for all attempts except the last, whose responses are not stored.",
    ),
  code: z.string().nullable().describe("Why the attempt failed, such as `timeout`; null if it succeeded."),
  reason: z
    .string()
    .nullable()
    .describe(
      "Why the attempt failed. For a success, the captures and marks that have no value; null if all have one.",
    ),
  retryAfterMs: z
    .number()
    .nullable()
    .describe("The wait that the host requested, in milliseconds, at most one hour; null if it requested none."),
});

/** An action run as the API returns it. */
export const actionRunSchema = z
  .strictObject({
    id: z.string().describe("The id of the action run (`act_…`)."),
    integrationId: z.string().describe("The id of the integration that defines the action."),
    action: z.string().describe("The name of the action in the integration's definition."),
    event: z
      .enum(["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"])
      .nullable()
      .describe("The task event that started the run; null for a schedule."),
    binding: z
      .int()
      .nullable()
      .describe("The index of the binding in `on` when the event occurred; null for a schedule."),
    taskId: z.string().nullable().describe("The task whose event started the run; null for a schedule."),
    state: z
      .enum(actionRunStates)
      .describe(
        "`attempting`: a request is under way. `waiting`: a retry is due at `retryAt`. `done`: the request succeeded. " +
          "`failed`: the last attempt failed.",
      ),
    begunAt: z.string().describe("When the action run started, as an RFC 3339 time."),
    endedAt: z.string().nullable().describe("When the action run ended; null until then."),
    retryAt: z.string().nullable().describe("When the service retries the run; null unless the state is `waiting`."),
    resends: z.string().nullable().describe("The run that this run repeats; null if it is not a repetition."),
    resentAs: z.string().nullable().describe("The latest run that repeats this one; null if there is none."),
    attempts: z.array(actionAttemptSchema).describe("The requests of the run so far, at most 8, in order."),
  })
  .meta({ title: "action-run" });

export type ActionRunState = (typeof actionRunStates)[number];

/** One request of an action; for an attempt that sent no request, the reason. */
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
  /** The task and event that started the run; null for a scheduled run. */
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
