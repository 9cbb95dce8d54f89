import { z } from "zod";
import type { WorkEvent } from "../events/catalogue.js";
import type { Stored } from "../view.js";
import type { HookFailureCode } from "./delivery/failure-codes.js";

const attemptSchema = z.strictObject({
  n: z.int().describe("The number of the attempt in its firing, from 1."),
  step: z.string().describe("The name of the hook's step that the attempt belongs to."),
  at: z.string().describe("When the attempt started, as an RFC 3339 time."),
  tookMs: z.number().describe("How long the attempt took, in milliseconds."),
  url: z
    .string()
    .nullable()
    .describe(
      "The address of the request, with secrets as `***`; null if there was no request, and in earlier releases.",
    ),
  requestHeaders: z
    .record(z.string(), z.string())
    .describe("The headers of the request by name, with secrets as `***`; empty if there was no request."),
  requestBody: z
    .string()
    .nullable()
    .describe("The first 16 KiB of the request's body, with secrets as `***`; null as `url` is."),
  status: z.int().nullable().describe("The HTTP status of the receiver's response; null if there was none."),
  body: z.string().describe("The first 16 KiB of the receiver's response; empty if there was none."),
  code: z.string().nullable().describe("Why the attempt failed, such as `timeout`; null if it succeeded."),
  reason: z.string().nullable().describe("Why the attempt failed, in one sentence; null if it succeeded."),
  retryAfterMs: z
    .number()
    .nullable()
    .describe("The wait that the receiver requested, in milliseconds, at most one hour; null if it requested none."),
});

/** A hook occurrence as its history returns it. */
export const hookOccurrenceSchema = z
  .strictObject({
    id: z.string().describe("The id of the firing (`occ_…`)."),
    hookId: z.string().describe("The id of the hook that fired (`hook_…`)."),
    hook: z.string().describe("The key of the hook when it fired."),
    firedAt: z.string().describe("When the hook fired, as an RFC 3339 time."),
    state: z
      .enum(["attempting", "waiting", "delivered", "failed", "refused"])
      .describe(
        "`attempting`: a request is under way. `waiting`: a retry is due at `retryAt`. `delivered`: all steps " +
          "succeeded. `refused`: the receiver refused the event.",
      ),
    code: z.string().nullable().describe("Why the firing failed, such as `timeout`; null unless it failed."),
    reason: z
      .string()
      .nullable()
      .describe(
        "Why the firing failed: the explanation of `code`. Null while the firing is in progress, and if it " +
          "succeeded.",
      ),
    refused: z.string().nullable().describe("Why the receiver refused the event; null unless it did."),
    endedAt: z.string().nullable().describe("When the firing ended, as an RFC 3339 time; null until then."),
    retryAt: z.string().nullable().describe("When the service retries the firing; null unless the state is `waiting`."),
    resends: z.string().nullable().describe("The firing that this firing resends; null if it is not a resend."),
    resentAs: z.string().nullable().describe("The latest firing that resends this one; null if there is none."),
    occurrence: z.string().describe("The id of the event that the hook fired on (`occ_…`)."),
    on: z.string().describe("The name of the event, such as `task.finished`."),
    teamId: z.string().describe("The team that the hook and its event belong to."),
    taskId: z.string().nullable().describe("The task of the event; null for a test."),
    runId: z.string().nullable().describe("The run that the event is about; null if it is about no run."),
    test: z.boolean().describe("Whether the event is a sample event, sent to test the hook."),
    attempts: z.array(attemptSchema).describe("The requests of the firing so far, in order."),
  })
  .meta({ title: "hook-occurrence" });

type StoredOccurrence = Stored<
  typeof hookOccurrenceSchema,
  "occurrence" | "on" | "teamId" | "taskId" | "runId" | "test" | "attempts"
>;

/** A hook occurrence as its rows store it. Attempts are read separately. */
export interface HookOccurrence extends StoredOccurrence {
  readonly code: HookFailureCode | null;
  readonly work: WorkEvent;
}

export type HookOccurrenceState = HookOccurrence["state"];

/** One request that a hook occurrence sent, or could not send. */
export interface AttemptRow extends Stored<typeof attemptSchema, "retryAfterMs" | "url" | "requestBody"> {
  readonly code: HookFailureCode | null;
  /** Absent if no request was sent, and in rows of earlier releases. */
  readonly url?: string;
  /** Absent like `url`. */
  readonly requestBody?: string;
  /** The wait that the receiver asked for, in milliseconds, at most one hour; null or absent for none. */
  readonly retryAfterMs?: number | null;
}

/** The fields of a hook occurrence that lists filter by, streams publish, and the table of retries needs. */
export interface HookOccurrenceListed extends Pick<HookOccurrence, "id" | "hookId" | "hook" | "state" | "retryAt"> {
  readonly teamId: string;
  /** The name of the event. */
  readonly on: string;
}
