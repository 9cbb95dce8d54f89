import { address } from "../../runtime/address.js";
import type { Delivered } from "../../runtime/turn.js";
import type { NoteTask } from "../tasks/task.messages.js";
import { timeText } from "../time-text.js";
import type { FireHook } from "./hook-occurrence.machine.js";
import { indexHookOccurrence } from "./hook-occurrence.queries.js";
import { findHookOccurrence, type HookOccurrence, storeBegun } from "./hook-occurrence.table.js";

/** Writes a new firing with its event. */
export function recordHookOccurrence(
  { turn, hookId, work, resends }: Delivered<FireHook>,
  begun: Pick<HookOccurrence, "hook" | "state" | "code" | "endedAt" | "reason">,
): HookOccurrence {
  const workspaceId = turn.self.partition;
  const { hook, state, code, endedAt, reason } = begun;
  const firing: HookOccurrence = {
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
  // Nobody can follow a firing before it is there, so there is nothing to tell yet.
  storeBegun(turn, workspaceId, firing);
  indexHookOccurrence(turn, workspaceId, firing);
  const original = resends === null ? undefined : findHookOccurrence(turn, workspaceId, work.teamId, resends);
  if (original !== undefined) storeBegun(turn, workspaceId, { ...original, resentAs: firing.id });
  return firing;
}

/** Records a firing that the loop guard stops, tells the task, and ends the actor: no request is made. */
export function recordLoop(event: Delivered<FireHook>, hook: string, why: string): void {
  const { turn, work } = event;
  const endedAt = timeText(turn.now);
  const { id, state } = recordHookOccurrence(event, { hook, state: "failed", code: "loop", reason: why, endedAt });
  turn.publishChange(`team/${work.teamId}`, { type: "hook", id, hook, on: work.on, state });
  const text = `The hook was stopped (loop): ${why}.`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: id };
  turn.send(address(turn.self.partition, "task", work.task.id), note);
  turn.stop();
}
