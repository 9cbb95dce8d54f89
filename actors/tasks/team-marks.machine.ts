/**
 * The marks of a team's tasks, `team-marks/<team>`. It owns which open task a mark belongs to (`team-marks.table.ts`),
 * and what was raised under a key. It does not own tasks: each is told, and answers.
 *
 * 1. A mark belongs to one open task at most. What is raised about it goes there; so of two events at once that would
 *    open a task for the same thing the first opens it, and the second is said to it.
 * 2. Whether a task is open says its row. So a task that is over has no marks from the turn of its end on, although
 *    they stay written on it: what is raised about them then opens a task, or is unmatched. Moved back by hand it gets
 *    back those that no other open task has.
 * 3. What is raised under a key is done once within 7 days. Whoever raised it is answered when the task has taken it.
 * 4. A task that could not be opened, because its line or station was deleted meanwhile, frees its marks; what was to
 *    be said to it is settled anew.
 *
 * | state   | moved by        | condition                        | next    | also                                        |
 * |---------|-----------------|----------------------------------|---------|---------------------------------------------|
 * | keeping | task.raise      | the key was taken                | keeping | answered as then, once that is settled      |
 * | keeping | task.raise      | an open task has one of the marks| keeping | it is told, and gets the marks              |
 * | keeping | task.raise      | none has, and it opens           | keeping | a task is opened with the marks             |
 * | keeping | task.raise      | none has, and it does not open   | keeping | answered `unmatched`                        |
 * | keeping | task.raise      | line or station gone             | keeping | answered `failed`                           |
 * | keeping | raise.taken     |                                  | keeping | answered `opened` or `said`                 |
 * | keeping | raise.refused   | line or station gone             | keeping | marks freed; answered `failed`              |
 * | keeping | raise.refused   | the task to be told is not there | keeping | settled anew                                |
 * | keeping | marks.set       |                                  | keeping | the task gets those that no other has       |
 * | keeping | marks.free      |                                  | keeping |                                             |
 * | keeping | marks.retake    |                                  | keeping | the task keeps those that no other has      |
 * | keeping | woken           | keys are older than 7 days       | keeping | forgotten; ends when none is left           |
 */
import { chartOf, type NoContext } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Woken } from "../../runtime/turn.js";
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

const { on, machine } = chartOf<NoContext, TeamMarksMessage | Woken>();

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

/** See the table above. */
export const teamMarksActor = defineActor(teamMarksRef, { machine: teamMarksMachine, version: 1 });
