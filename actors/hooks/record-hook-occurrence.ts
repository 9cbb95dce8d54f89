import type { Turn } from "../../runtime/turn.js";
import { type NoteTask, taskRef } from "../tasks/task.messages.js";
import { timeText } from "../time-text.js";
import type { FireHook } from "./hook-occurrence.messages.js";
import { findHookOccurrence, type HookOccurrence, hookOccurrences } from "./hook-occurrence.table.js";

/** Writes a new hook occurrence with its event. */
export function recordHookOccurrence(
  turn: Turn,
  { hookId, work, resends }: FireHook,
  begun: Pick<HookOccurrence, "hook" | "state" | "code" | "endedAt" | "reason">,
): HookOccurrence {
  const workspaceId = turn.self.partition;
  const { hook, state, code, endedAt, reason } = begun;
  const hookOccurrence: HookOccurrence = {
    id: turn.self.id,
    hookId,
    hook,
    work,
    firedAt: timeText(turn.now),
    state,
    code,
    reason,
    refused: null,
    endedAt,
    retryAt: null,
    resends,
    resentAs: null,
  };
  hookOccurrences.insert(turn, workspaceId, hookOccurrence);
  const original = resends === null ? undefined : findHookOccurrence(turn, workspaceId, work.teamId, resends);
  if (original !== undefined) {
    hookOccurrences.put(turn, workspaceId, original, { ...original, resentAs: hookOccurrence.id });
  }
  return hookOccurrence;
}

/**
 * Records a hook occurrence that the loop guard stops, reports it on the task and ends the actor: no request is made.
 */
export function recordLoop(turn: Turn, fire: FireHook, hook: string, why: string): void {
  const { work } = fire;
  const endedAt = timeText(turn.now);
  const { id } = recordHookOccurrence(turn, fire, { hook, state: "failed", code: "loop", reason: why, endedAt });
  const text = `The hook was stopped (loop): ${why}.`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: id };
  turn.send(taskRef(turn.self.partition, work.task.id), note);
  turn.stop();
}
