import { z } from "zod";
import type { EffectWait } from "../../runtime/effects/lane.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import { timeText } from "../time-text.js";
import { hookOccurrenceRef } from "./hook-occurrence.messages.js";
import { type HookOccurrence, listAttempts } from "./hook-occurrence.table.js";

const attemptSchema = z.strictObject({
  n: z.int(),
  step: z.string(),
  at: z.string(),
  tookMs: z.number(),
  requestHeaders: z.record(z.string(), z.string()),
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
    occurrence: z.string(),
    hookId: z.string(),
    hook: z.string(),
    on: z.string(),
    teamId: z.string(),
    taskId: z.string().nullable().describe("Null in a test."),
    runId: z.string().nullable(),
    state: z.enum(["attempting", "waiting", "delivered", "failed", "refused"]),
    code: z.string().nullable(),
    reason: z.string().nullable().describe("Why it failed, as `code` says; null while it goes on, and of a success."),
    refused: z.string().nullable(),
    firedAt: z.string(),
    endedAt: z.string().nullable(),
    retryAt: z.string().nullable().describe("When it is tried again, while it waits."),
    resends: z.string().nullable().describe("The firing that it sends again."),
    resentAs: z.string().nullable().describe("The last firing that sent it again."),
    test: z.boolean().describe("Whether it is a sample event, sent to see whether the hook works."),
    attempts: z.array(attemptSchema),
  })
  .meta({ title: "hook-occurrence" });

const waitSchema = z.strictObject({ since: z.string(), reason: z.string() });

/** A hook occurrence, with the reason why its next request waits. */
export const currentHookOccurrenceSchema = hookOccurrenceSchema
  .extend({ waits: waitSchema.nullable().describe("Why its request is not sent yet; null when none waits.") })
  .meta({ title: "hook-occurrence" });

export function hookOccurrenceView(
  reading: Reading,
  workspaceId: string,
  hookOccurrence: HookOccurrence,
): z.output<typeof hookOccurrenceSchema> {
  const { work, ...rest } = hookOccurrence;
  const { occurrence, on, teamId, task, run, test = false } = work;
  const made = listAttempts(reading, workspaceId, teamId, hookOccurrence.id);
  return {
    ...rest,
    occurrence,
    on,
    teamId,
    taskId: test ? null : task.id,
    runId: run?.id ?? null,
    test,
    attempts: made.map((attempt) => ({
      ...attempt,
      requestHeaders: { ...attempt.requestHeaders },
      retryAfterMs: attempt.retryAfterMs ?? null,
    })),
  };
}

/** Returns the hook occurrence from its rows, with the wait in the request lanes. */
export function currentHookOccurrence(
  runtime: Pick<Runtime, "reading" | "waitOf">,
  workspaceId: string,
  firing: HookOccurrence,
): z.output<typeof currentHookOccurrenceSchema> {
  const view = hookOccurrenceView(runtime.reading, workspaceId, firing);
  if (view.state !== "attempting") return { ...view, waits: null };
  const wait = runtime.waitOf(hookOccurrenceRef(workspaceId, firing.id), String(view.attempts.length + 1));
  return { ...view, waits: wait === null ? null : { since: timeText(wait.sinceMs), reason: toReason(wait) } };
}

function toReason({ bound, target }: EffectWait): string {
  // A target has the form `service <host>` or `network <host>`.
  const host = target.slice(target.indexOf(" ") + 1);
  if (bound === "target") return `the most requests to ${host} that the workspace may have are under way`;
  if (bound === "party") return "the most requests that the workspace may have are under way";
  return "requests of other workspaces are sent first";
}
