/**
 * The marks of a team's tasks, `team-marks/<team>`. The actor assigns each mark to an open task
 * (`team-marks.table.ts`), and records the events by their keys. The actor does not own tasks: it sends messages to a
 * task, and the task answers.
 *
 * 1. A mark belongs to at most one open task, which receives the events about the mark. If two simultaneous events
 *    would open a task for the same thing, the first event opens a task, and the second becomes a note on this task.
 * 2. The row of a task says whether the task is open. When a task ends, it loses its marks in the same turn, although
 *    its row still shows them. A later event about these marks opens another task, or is unmatched. If a person moves
 *    the ended task back, it regains the marks that no other open task has.
 * 3. An event with a key takes effect once within 7 days. The sender gets an answer after the task has processed the
 *    event.
 * 4. If a task could not be opened, because its line or station has been deleted, its marks become free. Events that
 *    were to become notes on this task are assigned again.
 *
 * | state   | moved by      | condition                         | next    | also                                    |
 * |---------|---------------|-----------------------------------|---------|-----------------------------------------|
 * | keeping | task.raise    | the key was used before           | keeping | the same answer, once it is known       |
 * | keeping | task.raise    | an open task has one of the marks | keeping | a note on it; it gets the marks         |
 * | keeping | task.raise    | none has; the event opens         | keeping | a task is opened with the marks         |
 * | keeping | task.raise    | none has; it does not open        | keeping | answered `unmatched`                    |
 * | keeping | task.raise    | line or station deleted           | keeping | answered `failed`                       |
 * | keeping | raise.taken   |                                   | keeping | answered `opened` or `said`             |
 * | keeping | raise.refused | line or station deleted           | keeping | marks freed; answered `failed`          |
 * | keeping | raise.refused | the task does not exist           | keeping | the event is assigned again             |
 * | keeping | marks.set     |                                   | keeping | the task gets the marks that no other   |
 * |         |               |                                   |         | task has                                |
 * | keeping | marks.free    |                                   | keeping |                                         |
 * | keeping | marks.retake  |                                   | keeping | the task keeps the marks that no other  |
 * |         |               |                                   |         | task has                                |
 * | keeping | woken         | keys are older than 7 days        | keeping | deleted; ends when none is left         |
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Woken } from "../../runtime/turns/turn.js";
import { type TeamMarksMessage, teamMarksRef } from "./team-marks.messages.js";
import {
  confirmRaise,
  forgetRaises,
  freeMarks,
  raise,
  retakeMarks,
  reviseRaise,
  setMarks,
} from "./team-marks.transitions.js";

const { on, machine } = createChart<NoContext, TeamMarksMessage | Woken>();

const teamMarksMachine = machine({
  id: "team-marks",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        ...on("task.raise", ({ turn, ...message }) => raise(turn, message)),
        ...on("raise.taken", confirmRaise),
        ...on("raise.refused", reviseRaise),
        ...on("marks.set", setMarks),
        ...on("marks.free", ({ turn, taskId }) => freeMarks(turn, taskId)),
        ...on("marks.retake", retakeMarks),
        ...on("woken", forgetRaises),
      },
    },
  },
});

/** The actor of the machine above. */
export const teamMarksActor = defineActor(teamMarksRef, { machine: teamMarksMachine, version: 1 });
