/**
 * The schedule of an action, `schedule/<integration>:<action>`: it runs the action `everyMinutes` after its last run
 * ended, for the first time so long after it was written. Each run is an actor of its own (`action-run.machine.ts`).
 *
 * 1. One run at a time: the next one is due only after the last has said that it is over.
 * 2. It ends with its block, its integration or its workspace; a run under way goes on, and is waited for.
 *
 * | state   | moved by                                          | next    | also                               |
 * |---------|---------------------------------------------------|---------|------------------------------------|
 * | none    | check.set (schedule.check)                        | resting | wake-up after everyMinutes         |
 * | none    | check.gone                                        | none    | stops                              |
 * | resting | check.set                                         | resting | wake-up as it says now             |
 * | resting | check.gone                                        | none    | stops                              |
 * | resting | due.set (woken, the definition still has it)      | running | a run of the action begins         |
 * | resting | due.gone                                          | none    | stops                              |
 * | running | check.set, check.gone                             | running |                                    |
 * | running | over.set (action.over of this run)                | resting | wake-up after everyMinutes         |
 * | running | over.gone                                         | none    | stops                              |
 * | any     | over.other                                        | same    |                                    |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifySchedule, type ScheduleContext, type ScheduleEvent } from "./classify-schedule.js";
import { scheduleRef } from "./schedule.messages.js";
import { end, rest, restAgain, run } from "./schedule.transitions.js";

const machine = setup({
  types: { context: {} as ScheduleContext, events: {} as Delivered<ScheduleEvent> },
  actions: { end: ({ event }) => end(event.turn) },
}).createMachine({
  id: "schedule",
  context: { runId: null, sinceMs: 0 },
  initial: "none",
  states: {
    none: {
      on: {
        "check.set": { target: "resting", actions: assign(({ event }) => rest(event.turn, event.set)) },
        "check.gone": { target: "none", actions: "end" },
        "over.other": { target: "none", actions: "end" },
      },
    },
    resting: {
      on: {
        "check.set": {
          target: "resting",
          actions: ({ context, event }) => restAgain(event.turn, event.set, context),
        },
        "check.gone": { target: "none", actions: "end" },
        "due.set": { target: "running", actions: assign(({ context, event }) => run(event.turn, event.set, context)) },
        "due.gone": { target: "none", actions: "end" },
        "over.other": { target: "resting" },
      },
    },
    running: {
      on: {
        "check.set": { target: "running" },
        "check.gone": { target: "running" },
        "over.set": { target: "resting", actions: assign(({ event }) => rest(event.turn, event.set)) },
        "over.gone": { target: "none", actions: "end" },
        "over.other": { target: "running" },
      },
    },
  },
});

/** See the table above. */
export const scheduleActor = defineActor(scheduleRef, { machine, classify: classifySchedule, version: 1 });
