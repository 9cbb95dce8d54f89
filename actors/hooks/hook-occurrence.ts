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
  retryAfterMs: z.number().nullable().describe("How long the receiver asked to be left alone, at most an hour."),
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
    reason: z.string().nullable().describe("Why it failed, as `code` says; null while it goes on, and of a success."),
    refused: z.string().nullable(),
    endedAt: z.string().nullable(),
    retryAt: z.string().nullable().describe("When it is tried again, while it waits."),
    resends: z.string().nullable().describe("The firing that it sends again."),
    resentAs: z.string().nullable().describe("The last firing that sent it again."),
    occurrence: z.string(),
    on: z.string(),
    teamId: z.string(),
    taskId: z.string().nullable().describe("Null in a test."),
    runId: z.string().nullable(),
    test: z.boolean().describe("Whether it is a sample event, sent to see whether the hook works."),
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
  /** The wait that the receiver asked for, in milliseconds, at most one hour. */
  readonly retryAfterMs?: number | null;
}

/** The fields by which lists find a hook occurrence, and which its streams publish. */
export interface HookOccurrenceListed extends Pick<HookOccurrence, "id" | "hook" | "state"> {
  readonly teamId: string;
  /** The event. */
  readonly on: string;
}
