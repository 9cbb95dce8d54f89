import { defineView, type Shown } from "../../view.js";
import { type ActionAttempt, type ActionRunRow, type actionAttemptSchema, actionRunSchema } from "./action-run.js";

/** Shows an action run with its attempts. */
export const actionRunView = defineView<ActionRunRow>()(actionRunSchema, {
  event: ({ binding }) => binding?.event ?? null,
  binding: ({ binding }) => binding?.index ?? null,
  taskId: ({ binding }) => binding?.taskId ?? null,
  attempts: ({ attempts }) => attempts.map((attempt, index) => attemptView(attempt, index === attempts.length - 1)),
});

/**
 * A row stores an empty string if an attempt has no body or its body is no longer stored. The API returns null then.
 */
function attemptView(attempt: ActionAttempt, isLast: boolean): Shown<typeof actionAttemptSchema> {
  return { ...attempt, body: isLast && attempt.status !== null ? attempt.body : null };
}
