import { z } from "zod";
import { type ActionAttempt, type ActionRunRow, actionRunStates } from "./action-run.js";

const attemptSchema = z.strictObject({
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
    attempts: z.array(attemptSchema),
    resends: z.string().nullable().describe("The run that it does again."),
    resentAs: z.string().nullable().describe("The last run that did it again."),
  })
  .meta({ title: "action-run" });

export function actionRunView(row: ActionRunRow): z.output<typeof actionRunSchema> {
  const { id, integrationId, action, binding, state, begunAt, endedAt, retryAt, attempts, resends, resentAs } = row;
  return {
    id,
    integrationId,
    action,
    event: binding?.event ?? null,
    binding: binding?.index ?? null,
    taskId: binding?.taskId ?? null,
    state,
    begunAt,
    endedAt,
    retryAt,
    resends,
    resentAs,
    attempts: attempts.map((attempt, index) => attemptView(attempt, index === attempts.length - 1)),
  };
}

/** Rows store an empty string when there is no body; the API returns null. */
function attemptView(attempt: ActionAttempt, isLast: boolean): z.output<typeof attemptSchema> {
  return { ...attempt, body: isLast && attempt.status !== null ? attempt.body : null };
}
