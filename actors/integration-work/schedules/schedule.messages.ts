import { reference } from "../../../runtime/cells/reference.js";
import type { Message } from "../../../runtime/turns/turn.js";

/** The integration's definition may have changed, or its workspace was closed. */
export interface CheckSchedule extends Message {
  readonly type: "schedule.check";
}

/** The scheduled run has ended. */
export interface ScheduledRunOver extends Message {
  readonly type: "action.over";
  readonly runId: string;
}

/** Identifies the schedule of an action. */
export interface ScheduleKey {
  readonly workspaceId: string;
  readonly integrationId: string;
  readonly action: string;
}

/** The schedule of an integration's action. */
export const scheduleRef = reference<CheckSchedule | ScheduledRunOver, [of: ScheduleKey]>(
  "schedule",
  ({ workspaceId, integrationId, action }) => [workspaceId, `${integrationId}:${action}`],
);

/** Splits a schedule's id into its parts. */
export function parseScheduleId(id: string): Pick<ScheduleKey, "integrationId" | "action"> {
  const colon = id.indexOf(":");
  return { integrationId: id.slice(0, colon), action: id.slice(colon + 1) };
}
