/**
 * The schedule of an action, `schedule/<integration>:<action>`. It runs the action `everyMinutes` after the last run
 * ended. The first run follows `everyMinutes` after the schedule was defined. Each run has its own actor
 * (`action-run.machine.ts`).
 *
 * 1. Only one run is active at a time. The next run is due only after the last run has reported its end.
 * 2. The schedule ends when its block, integration or workspace is removed. If a run is active, the schedule first
 *    waits for the run's end.
 *
 * | state   | event (message)                                   | next    | also                               |
 * |---------|---------------------------------------------------|---------|------------------------------------|
 * | none    | check.set (schedule.check)                        | resting | wakes after `everyMinutes`         |
 * | none    | check.gone (schedule.check)                       | none    | stops                              |
 * | resting | check.set                                         | resting | wakes by the new definition        |
 * | resting | check.gone                                        | none    | stops                              |
 * | resting | due.set (woken, if the schedule is still defined) | running | starts a run of the action         |
 * | resting | due.gone (woken)                                  | none    | stops                              |
 * | running | check.set, check.gone                             | running |                                    |
 * | running | over.set (action.over of this run)                | resting | wakes after `everyMinutes`         |
 * | running | over.gone (action.over of this run)               | none    | stops                              |
 * | none    | over.other (action.over of another run)           | none    | stops                              |
 * | resting,| over.other                                        | same    |                                    |
 * | running |                                                   |         |                                    |
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { TurnReading, Woken } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { findResource } from "../../resources/resource.table.js";
import {
  type CheckSchedule,
  parseScheduleId,
  type ScheduledRunOver,
  type ScheduleKey,
  scheduleRef,
} from "./schedule.messages.js";
import { end, rest, restAgain, run, type ScheduleContext, type SetSchedule } from "./schedule.transitions.js";

const { on, machine } = createChart<ScheduleContext, ReturnType<typeof classifySchedule>>();

const scheduleMachine = machine({
  id: "schedule",
  context: { runId: null, sinceMs: 0 },
  initial: "none",
  states: {
    none: { on: { ...on("check.set", "resting", rest), ...on("check.gone", end), ...on("over.other", end) } },
    resting: {
      on: {
        ...on("check.set", restAgain),
        ...on("check.gone", "none", end),
        ...on("due.set", "running", run),
        ...on("due.gone", "none", end),
        ...on("over.other"),
      },
    },
    running: {
      on: {
        ...on("check.set"),
        ...on("check.gone"),
        ...on("over.set", "resting", rest),
        ...on("over.gone", "none", end),
        ...on("over.other"),
      },
    },
  },
});

/** See the table above. */
export const scheduleActor = defineActor(scheduleRef, {
  machine: scheduleMachine,
  classify: classifySchedule,
  version: 1,
});

/** Classifies each message to a schedule by the current definition. Only reads. */
function classifySchedule(
  message: CheckSchedule | ScheduledRunOver | Woken,
  { context }: { readonly context: ScheduleContext },
  turn: TurnReading,
) {
  if (message.type === "schedule.check") return toMoved("check", turn);
  if (message.type === "woken") return toMoved("due", turn);
  if (message.type !== "action.over") return message;
  return message.runId === context.runId ? toMoved("over", turn) : toEvent("over.other");
}

function toMoved<By extends "check" | "due" | "over">(by: By, turn: TurnReading) {
  const set = findSchedule(turn, { workspaceId: turn.self.partition, ...parseScheduleId(turn.self.id) });
  return set === null ? toEvent(`${by}.gone`) : toEvent(`${by}.set`, { set });
}

/** Finds the schedule of an action; null if the block, integration or workspace was removed. */
function findSchedule(reading: Reading, { workspaceId, integrationId, action }: ScheduleKey): SetSchedule | null {
  if (findResource(reading, workspaceId, "workspace", workspaceId) === undefined) return null;
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const actions = integration?.fields.actions ?? {};
  const schedule = Object.hasOwn(actions, action) ? (actions[action]?.schedule ?? null) : null;
  if (integration === undefined || schedule === null) return null;
  return { integrationId, action, teamId: integration.teamId ?? "", everyMs: schedule.everyMinutes * 60_000 };
}
