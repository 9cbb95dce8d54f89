import { address } from "../../runtime/address.js";
import type { Delivered } from "../../runtime/turn.js";
import type { NoteTask } from "../tasks/task-messages.js";
import { putFiring } from "./firing-list.js";
import type { FireHook } from "./hook-occurrence.machine.js";
import { type FiringRow, firingEvents, firings } from "./occurrence-rows.js";

/** Writes a new firing with its event. */
export function recordFiring(
  { turn, hookId, work, resends }: Delivered<FireHook>,
  begun: Pick<FiringRow, "hook" | "state" | "code" | "endedAt" | "reason">,
): FiringRow {
  const workspaceId = turn.self.partition;
  const row: FiringRow = {
    id: turn.self.id,
    occurrence: work.occurrence,
    hookId,
    on: work.on,
    teamId: work.teamId,
    taskId: work.test === true ? null : work.task.id,
    runId: work.run?.id ?? null,
    refused: null,
    firedAt: new Date(turn.now).toISOString(),
    resends,
    ...(work.test === true ? { test: true } : {}),
    ...begun,
  };
  // Nobody can follow a firing before it is there, so there is nothing to tell yet.
  putFiring(turn, workspaceId, row, null);
  firingEvents.put(turn, workspaceId, row.id, work);
  const original = resends === null ? undefined : firings.get(turn, workspaceId, work.teamId, resends);
  if (original !== undefined) putFiring(turn, workspaceId, { ...original, resentAs: row.id }, original.state);
  return row;
}

/** Records a firing that the loop guard stops, tells the task, and ends the actor: no request is made. */
export function recordLoop(event: Delivered<FireHook>, hook: string, why: string): void {
  const { turn, work } = event;
  const endedAt = new Date(turn.now).toISOString();
  const row = recordFiring(event, { hook, state: "failed", code: "loop", reason: why, endedAt });
  turn.change(`team/${work.teamId}`, { type: "hook", id: row.id, hook, on: work.on, state: row.state });
  const text = `The hook was stopped (loop): ${why}.`;
  const note: NoteTask = { type: "note", from: `hook ${hook}`, text, key: row.id };
  turn.send(address(turn.self.partition, "task", work.task.id), note);
  turn.stop();
}
