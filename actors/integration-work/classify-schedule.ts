import type { Message, TurnReading, Woken } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { findResource, isWorkspaceOpen } from "../resources/resource.table.js";
import { type CheckSchedule, parseScheduleId, type ScheduledRunOver, type ScheduleKey } from "./schedule.messages.js";

export interface ScheduleContext {
  /** The run under way, or the last one. */
  readonly runId: string | null;
  /** Since when it rests, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** A schedule as the definition has it. */
export interface SetSchedule {
  readonly integrationId: string;
  readonly action: string;
  readonly teamId: string;
  readonly everyMs: number;
}

export type ScheduleEvent =
  | (Message & { readonly type: "check.set" | "due.set" | "over.set"; readonly set: SetSchedule })
  | (Message & { readonly type: "check.gone" | "due.gone" | "over.gone" | "over.other" });

/** Classifies each message to a schedule by what the definition says now. Reads only. */
export function classifySchedule(
  message: CheckSchedule | ScheduledRunOver | Woken,
  { context }: { readonly value: string; readonly context: ScheduleContext },
  turn: TurnReading,
): ScheduleEvent {
  if (message.type === "schedule.check") return toMoved("check", turn);
  if (message.type === "woken") return toMoved("due", turn);
  if (message.type !== "action.over") return message;
  return message.runId === context.runId ? toMoved("over", turn) : { type: "over.other" };
}

function toMoved(by: "check" | "due" | "over", turn: TurnReading): ScheduleEvent {
  const set = findSchedule(turn, { workspaceId: turn.self.partition, ...parseScheduleId(turn.self.id) });
  return set === null ? { type: `${by}.gone` } : { type: `${by}.set`, set };
}

/** The schedule of an action; null when it may not run: block, integration or workspace is gone. */
function findSchedule(reading: Reading, { workspaceId, integrationId, action }: ScheduleKey): SetSchedule | null {
  if (!isWorkspaceOpen(reading, workspaceId)) return null;
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const actions = integration?.fields.actions ?? {};
  const schedule = Object.hasOwn(actions, action) ? (actions[action]?.schedule ?? null) : null;
  if (integration === undefined || schedule === null) return null;
  return { integrationId, action, teamId: integration.teamId ?? "", everyMs: schedule.everyMinutes * 60_000 };
}
