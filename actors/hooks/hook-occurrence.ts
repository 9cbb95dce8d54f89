import { z } from "zod";
import type { WorkEvent } from "../events/catalogue.js";
import type { Stored } from "../view.js";
import type { HookFailureCode } from "./delivery/failure-codes.js";

const attemptSchema = z.strictObject({
  n: z.int(),
  step: z.string(),
  at: z.string(),
  tookMs: z.number(),
  url: z
    .string()
    .nullable()
    .describe(
      "The address of the request, with secrets as `***`; null if there was no request, and in earlier releases.",
    ),
  requestHeaders: z.record(z.string(), z.string()),
  requestBody: z
    .string()
    .nullable()
    .describe("The first 16 KiB of the request's body, with secrets as `***`; null as `url` is."),
  status: z.int().nullable(),
  body: z.string(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  retryAfterMs: z
    .number()
    .nullable()
    .describe("The wait that the receiver requested, in milliseconds, at most one hour; null if it requested none."),
});

/** A hook occurrence as its history returns it. */
export const hookOccurrenceSchema = z
  .strictObject({
    id: z.string(),
    hookId: z.string(),
    hook: z.string(),
    firedAt: z.string(),
    state: z.enum(["attempting", "waiting", "delivered", "failed", "refused"]),
    code: z.string().nullable(),
    reason: z
      .string()
      .nullable()
      .describe(
        "Why the firing failed: the explanation of `code`. Null while the firing is in progress, and if it " +
          "succeeded.",
      ),
    refused: z.string().nullable(),
    endedAt: z.string().nullable(),
    retryAt: z.string().nullable().describe("When the service retries the firing; null unless the state is `waiting`."),
    resends: z.string().nullable().describe("The firing that this firing resends; null if it is not a resend."),
    resentAs: z.string().nullable().describe("The latest firing that resends this one; null if there is none."),
    occurrence: z.string(),
    on: z.string(),
    teamId: z.string(),
    taskId: z.string().nullable().describe("The task of the event; null for a test."),
    runId: z.string().nullable(),
    test: z.boolean().describe("Whether the event is a sample event, sent to test the hook."),
    attempts: z.array(attemptSchema),
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
