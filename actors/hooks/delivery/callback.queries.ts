import type { Reading } from "../../../storage/store.js";
import type { Refusal } from "../../refusal.js";
import { isWorkspaceOpen } from "../../resources/resource.table.js";
import type { Sealer } from "../../sealer.js";
import type { TaskRow } from "../../tasks/task.js";
import { tasks } from "../../tasks/task.table.js";
import type { HookOccurrence } from "../hook-occurrence.js";
import { findHookOccurrenceById } from "../hook-occurrence.table.js";
import { findCallbackBearer } from "./callback-token.js";

/** The subject of a hook receiver's callbacks. */
export interface CallbackSubject {
  readonly workspaceId: string;
  readonly hookOccurrence: HookOccurrence;
  readonly task: TaskRow;
}

/** The values that are needed to look up a callback token. */
export interface CallbackSource {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "digest">;
  readonly nowMs: number;
}

/**
 * Finds the hook occurrence and task of a callback token. Refuses an invalid or expired token, the token of a test, and
 * a token whose hook occurrence, task or workspace no longer exists.
 */
export function findCallbackSubject(
  { reading, sealer, nowMs }: CallbackSource,
  token: string | null,
): CallbackSubject | Refusal {
  const refused: Refusal = { refused: "unauthenticated", detail: "The callback token is missing, unknown or too old." };
  const bearer = token === null ? null : findCallbackBearer(sealer, token, nowMs);
  if (bearer === null) return refused;
  const { workspaceId, hookOccurrenceId } = bearer;
  const hookOccurrence = findHookOccurrenceById(reading, workspaceId, hookOccurrenceId);
  if (hookOccurrence === undefined || hookOccurrence.work.test === true) return refused;
  const task = tasks.get(reading, workspaceId, hookOccurrence.work.task.id);
  const isOpen = isWorkspaceOpen(reading, workspaceId);
  return task === undefined || !isOpen ? refused : { workspaceId, hookOccurrence, task };
}
