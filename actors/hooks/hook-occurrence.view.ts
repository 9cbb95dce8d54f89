import { z } from "zod";
import type { EffectWait } from "../../runtime/effects/lane.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import { timeText } from "../time-text.js";
import { defineView, type Shown } from "../view.js";
import { type HookOccurrence, hookOccurrenceSchema } from "./hook-occurrence.js";
import { hookOccurrenceRef } from "./hook-occurrence.messages.js";
import { listAttempts } from "./hook-occurrence.table.js";

const waitSchema = z.strictObject({
  since: z.string().describe("When the request started to wait, as an RFC 3339 time."),
  reason: z.string().describe("Why the request waits, in one sentence."),
});

/** A hook occurrence. If its next request waits, it also has the reason. */
export const currentHookOccurrenceSchema = hookOccurrenceSchema
  .extend({
    waits: waitSchema
      .nullable()
      .describe("Why the firing's request is not sent yet, and since when; null if no request waits."),
  })
  .meta({ title: "hook-occurrence" });

interface Sources {
  readonly reading: Reading;
  readonly workspaceId: string;
}

const showOccurrence = defineView<HookOccurrence, Sources>()(hookOccurrenceSchema, {
  occurrence: ({ work }) => work.occurrence,
  on: ({ work }) => work.on,
  teamId: ({ work }) => work.teamId,
  taskId: ({ work }) => (work.test === true ? null : work.task.id),
  runId: ({ work }) => work.run?.id ?? null,
  test: ({ work }) => work.test ?? false,
  attempts: ({ id, work }, { reading, workspaceId }) =>
    listAttempts(reading, workspaceId, work.teamId, id).map((attempt) => ({
      ...attempt,
      retryAfterMs: attempt.retryAfterMs ?? null,
      url: attempt.url ?? null,
      requestBody: attempt.requestBody ?? null,
    })),
});

/** Shows a hook occurrence with its attempts. */
export function hookOccurrenceView(
  reading: Reading,
  workspaceId: string,
  hookOccurrence: HookOccurrence,
): Shown<typeof hookOccurrenceSchema> {
  return showOccurrence(hookOccurrence, { reading, workspaceId });
}

/**
 * Returns the hook occurrence that its rows store. `waits` is the reason why its request waits; null if it does not
 * wait.
 */
export function currentHookOccurrence(
  runtime: Pick<Runtime, "reading" | "lookUpWait">,
  workspaceId: string,
  firing: HookOccurrence,
): Shown<typeof currentHookOccurrenceSchema> {
  const view = hookOccurrenceView(runtime.reading, workspaceId, firing);
  if (view.state !== "attempting") return { ...view, waits: null };
  const wait = runtime.lookUpWait(hookOccurrenceRef(workspaceId, firing.id), String(view.attempts.length + 1));
  return { ...view, waits: wait === null ? null : { since: timeText(wait.sinceMs), reason: toReason(wait) } };
}

function toReason({ bound, target }: EffectWait): string {
  // A target has the form `service <host>` or `network <host>`.
  const host = target.slice(target.indexOf(" ") + 1);
  if (bound === "target") return `the most requests to ${host} that the workspace may have are under way`;
  if (bound === "client") return "the most requests that the workspace may have are under way";
  return bound === "process" ? "requests of other workspaces are sent first" : "the service is about to send it";
}
