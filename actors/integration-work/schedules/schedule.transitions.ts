import type { InTurn } from "../../../runtime/cells/chart.js";
import { timeText } from "../../time-text.js";
import { actionRunRef } from "../actions/action-run.messages.js";
import { parseScheduleId } from "./schedule.messages.js";
import { schedules } from "./schedule.table.js";

/** The transitions of a schedule. `schedule.machine.ts` lists when each transition runs. */

/** The name of the wake-up for the next run. */
const DUE = "due";

export interface ScheduleContext {
  /** The id of the active or last run; null before the first run. */
  readonly runId: string | null;
  /** The start of the current wait, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** A schedule as the definition describes it. */
export interface SetSchedule {
  readonly integrationId: string;
  readonly action: string;
  readonly teamId: string;
  readonly everyMs: number;
}

interface OfSchedule extends InTurn {
  readonly set: SetSchedule;
}

/** Starts a new wait for the next run, counted from now. */
export function rest({ turn, set }: OfSchedule): ScheduleContext {
  const { integrationId, action } = set;
  const runId = schedules.get(turn, turn.self.partition, integrationId, action)?.runId ?? null;
  const context = { runId, sinceMs: turn.now };
  restAgain({ turn, set }, context);
  return context;
}

/** Sets the wake-up to `everyMs` after the start of the wait. If the clock was set back, counts from now. */
export function restAgain({ turn, set }: OfSchedule, context: ScheduleContext): void {
  const { integrationId, action, everyMs } = set;
  const atMs = Math.max(turn.now, Math.min(turn.now, context.sinceMs) + everyMs);
  turn.wake(DUE, atMs);
  const row = { integrationId, action, nextAt: timeText(atMs), runId: context.runId };
  schedules.put(turn, turn.self.partition, [integrationId, action], row);
}

/** Starts a run of the action. */
export function run({ turn, set }: OfSchedule, context: ScheduleContext): ScheduleContext {
  const { integrationId, action, teamId } = set;
  const runId = turn.newId("act");
  schedules.put(turn, turn.self.partition, [integrationId, action], { integrationId, action, nextAt: null, runId });
  turn.send(actionRunRef(turn.self.partition, runId), { type: "action.due", integrationId, teamId, action });
  return { ...context, runId };
}

/** Removes the schedule's row and stops. */
export function end({ turn }: InTurn): void {
  const { integrationId, action } = parseScheduleId(turn.self.id);
  turn.cancelWake(DUE);
  schedules.remove(turn, turn.self.partition, integrationId, action);
  turn.stop();
}
