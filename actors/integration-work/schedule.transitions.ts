import type { InTurn } from "../../runtime/chart.js";
import { timeText } from "../time-text.js";
import { actionRunRef } from "./action-run.messages.js";
import { parseScheduleId } from "./schedule.messages.js";
import { schedules } from "./schedule.table.js";

/** The transitions of a schedule (`schedule.machine.ts` says when each runs). */

const DUE = "due";

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

/** A turn about the schedule that the definition has. */
interface OfSchedule extends InTurn {
  readonly set: SetSchedule;
}

/** Rests from now on. */
export function rest({ turn, set }: OfSchedule): ScheduleContext {
  const { integrationId, action } = set;
  const runId = schedules.get(turn, turn.self.partition, integrationId, action)?.runId ?? null;
  const context = { runId, sinceMs: turn.now };
  restAgain({ turn, set }, context);
  return context;
}

/** Sets the wake-up anew: it counts from when it began to rest; from now, where a clock that was put right says later. */
export function restAgain({ turn, set }: OfSchedule, context: ScheduleContext): void {
  const { integrationId, action, everyMs } = set;
  const atMs = Math.max(turn.now, Math.min(turn.now, context.sinceMs) + everyMs);
  turn.wake(DUE, atMs);
  const row = { integrationId, action, nextAt: timeText(atMs), runId: context.runId };
  schedules.put(turn, turn.self.partition, [integrationId, action], row);
}

/** Begins a run of the action. */
export function run({ turn, set }: OfSchedule, context: ScheduleContext): ScheduleContext {
  const { integrationId, action, teamId } = set;
  const runId = turn.newId("act");
  schedules.put(turn, turn.self.partition, [integrationId, action], { integrationId, action, nextAt: null, runId });
  turn.send(actionRunRef(turn.self.partition, runId), { type: "action.due", integrationId, teamId, action });
  return { ...context, runId };
}

/** Nothing of it is left. */
export function end({ turn }: InTurn): void {
  const { integrationId, action } = parseScheduleId(turn.self.id);
  turn.cancelWake(DUE);
  schedules.remove(turn, turn.self.partition, integrationId, action);
  turn.stop();
}
