/**
 * A task, `task/<id>`, moving through the stations of its line. `classify-task.ts` classifies each message before the
 * step. If an event's name differs from the message's name, the message follows in brackets.
 *
 * Outcomes of ended runs (`ended-runs.ts`): `over.done` accepts the remaining changes. A return to an earlier station
 * (`over.queued`, `task.move`) sends changes back. A person's command is recorded as the next act after each ended run
 * that has none yet.
 *
 * | state        | moved by                                | next    | also                                          |
 * |--------------|-----------------------------------------|---------|-----------------------------------------------|
 * | new          | task.open                               | queued  | fact `task.opened`; a run is queued           |
 * | new          | opening.refused (task.open): line,      | new     | refused; the actor ends                       |
 * |              | station or assignee deleted             |         |                                               |
 * | new          | raise.open                              | queued  | as task.open, for an event of an integration; |
 * |              |                                         |         | answers the team's marks actor                |
 * | new          | raise.unopened (raise.open): line or    | new     | notifies the marks actor                      |
 * |              | station deleted                         |         |                                               |
 * | new          | raise.untold (raise.tell): never opened | new     | notifies the marks actor                      |
 * | queued       | run.began                               | running |                                               |
 * | any open     | approval.wanted (run.asking)            | inbox   | its run waits; `asks` says for what           |
 * | any open     | approval.not-wanted (run.asking)        | running | its run no longer waits                       |
 * | any open     | over.queued (run.over), handed over     | queued  | fact `task.moved`; a run at the next station  |
 * | any open     | over.queued (run.over), abandoned       | queued  | another attempt, at most five in a row        |
 * | any open     | over.done (run.over), finished at the   | done    |                                               |
 * |              | last station                            |         |                                               |
 * | any open     | over.opening (run.over), finished with  | opening | shown as `running`                            |
 * |              | pull requests that are being opened     |         |                                               |
 * | any open     | over.inbox (run.over), otherwise        | inbox   | waits for its assignee; `asks` says why       |
 * | opening      | opened.done (pull-request.changed),     | done    |                                               |
 * |              | all are open                            |         |                                               |
 * | opening      | opened.inbox (pull-request.changed),    | inbox   | `asks` says why                               |
 * |              | one failed                              |         |                                               |
 * | any but new  | pull-request.changed                    | same    | `pullRequest` set; a merge accepts changes    |
 * | done         | task.move, task.retry, while its pull   | queued  | as from the inbox; unassigned with a note if  |
 * |              | request is open                         |         | its assignee left the team                    |
 * | any open     | task.stop by the assignee               | same    | the run is asked to end                       |
 * | any open     | stop.refused (task.stop)                | same    | refused; also without an active run           |
 * | inbox        | task.answer by the assignee             | queued  | the answer reaches the next run               |
 * | inbox        | answer.refused (task.answer)            | inbox   | refused; also while a run waits               |
 * | inbox        | task.retry                              | queued  | a run at the same station                     |
 * | inbox        | retry.refused (task.retry)              | inbox   | refused while a run waits                     |
 * | any open     | task.move                               | queued  | the run is superseded; fact `task.moved`      |
 * | any open     | move.refused (task.move): no station    | same    | refused                                       |
 * | any open     | task.close, task.withdraw               | closed  | the run is withdrawn                          |
 * | any open     | task.assign                             | same    |                                               |
 * | any open     | assignment.refused (task.assign): user  | same    | refused                                       |
 * |              | is not on the team                      |         |                                               |
 * | any open     | task.unassign of its assignee           | same    | unassigned, with a note                       |
 * | done,closed  | task.unassign                           | same    |                                               |
 * | any but new  | asking.other, over.other (run.asking,   | same    |                                               |
 * |              | run.over of another run)                |         |                                               |
 * | queued       | began.other (run.began of another run)  | queued  |                                               |
 * | any but new  | task.note                               | same    | a note of a person or a token                 |
 * | any but new  | raise.tell                              | same    | the event's text is a note, never an answer;  |
 * |              |                                         |         | its marks and branch are set                  |
 * | any but new  | task.mark                               | same    | marks are set                                 |
 * | done,closed, | forget.due (task.forget)                | (ended) | removed, with its runs                        |
 * | new          |                                         |         |                                               |
 * | done,closed  | forget.begun (task.forget, of an        | same    | its end is now                                |
 * |              | earlier release)                        |         |                                               |
 * | any but new  | forget.kept (task.forget): open, pinned | same    |                                               |
 * |              | or something refers to it               |         |                                               |
 * | any          | note                                    | same    | added once for each key                       |
 * | any          | command.repeated (a command under a     | same    | answered with the task that it opened or was  |
 * |              | key that was used before)               |         | about; a new actor ends                       |
 * | any          | repeat.refused (a used key with another | same    | refused; a new actor ends                     |
 * |              | body)                                   |         |                                               |
 * | any          | token.refused (a command of a token     | same    | refused; a new actor ends                     |
 * |              | that has ended)                         |         |                                               |
 */
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { answerRefusal } from "../refusal.js";
import { classifyTask } from "./classify-task.js";
import type { TaskContext, TaskRow } from "./task.js";
import { type TaskAnswer, taskRef } from "./task.messages.js";
import { beginRetention, forgetTask } from "./task.retention.js";
import {
  addCallersNote,
  addNote,
  advance,
  close,
  endOpening,
  markRunning,
  markTask,
  openTask,
  reassign,
  recordCommand,
  resume,
  setAsks,
  stop,
  takePullRequest,
  unassign,
} from "./task.transitions.js";
import { openRaised, refuseRaise, reportRaised } from "./task-raises.js";

const initialContext: TaskContext = { runId: null, abandoned: 0, ended: [], opening: [] };

const { on, machine } = createChart<TaskContext, ReturnType<typeof classifyTask>>();

/** Transitions of every state after the first. */
const always = {
  ...on("pull-request.changed", takePullRequest),
  ...on("task.note", addCallersNote),
  ...on("raise.tell", reportRaised),
  ...on("task.mark", markTask),
  ...on("asking.other"),
  ...on("over.other"),
  ...on("forget.kept"),
};

const moving = {
  ...on("task.move", "queued", recordCommand, ({ turn, to, by }, context) => resume(turn, context, { by, to })),
  ...on("move.refused", answerRefusal),
};

const retrying = on("task.retry", "queued", recordCommand, ({ turn, by }, context) => resume(turn, context, { by }));

/** Transitions of every open state. */
const open = {
  ...always,
  ...moving,
  ...on("approval.wanted", "inbox", ({ turn, asks }) => setAsks(turn, asks)),
  ...on("approval.not-wanted", "running", ({ turn }) => setAsks(turn, null)),
  ...on("over.queued", "queued", advance),
  ...on("over.done", "done", advance),
  ...on("over.inbox", "inbox", advance),
  ...on("over.opening", "opening", advance),
  ...on("task.stop", recordCommand, stop),
  ...on("stop.refused", answerRefusal),
  ...on("task.close", "closed", recordCommand, close),
  ...on("task.withdraw", "closed", close),
  ...on("task.assign", reassign),
  ...on("assignment.refused", answerRefusal),
  ...on("task.unassign", unassign),
};

/** Transitions of a finished or closed task. */
const over = {
  ...always,
  ...on("forget.due", ({ turn }) => forgetTask(turn)),
  ...on("forget.begun", ({ turn }) => beginRetention(turn)),
  ...on("task.unassign"),
};

const taskMachine = machine({
  id: "task",
  context: initialContext,
  initial: "new",
  on: {
    ...on("note", ({ turn, ...note }) => addNote(turn, note)),
    ...on("command.repeated", answerAgain),
    ...on("repeat.refused", answerRefusal),
    ...on("token.refused", answerRefusal),
  },
  states: {
    new: {
      on: {
        ...on("task.open", "queued", openTask),
        ...on("raise.open", "queued", openRaised),
        ...on("raise.unopened", refuseRaise, stopActor),
        ...on("raise.untold", refuseRaise, stopActor),
        ...on("opening.refused", answerRefusal, stopActor),
        ...on("command.repeated", answerAgain, stopActor),
        ...on("repeat.refused", answerRefusal, stopActor),
        ...on("token.refused", answerRefusal, stopActor),
        ...on("forget.due", ({ turn }) => forgetTask(turn)),
      },
    },
    queued: { on: { ...open, ...on("run.began", "running", markRunning), ...on("began.other") } },
    running: { on: open },
    opening: {
      on: { ...open, ...on("opened.done", "done", endOpening), ...on("opened.inbox", "inbox", endOpening) },
    },
    inbox: {
      on: {
        ...open,
        ...retrying,
        ...on("retry.refused", answerRefusal),
        ...on("task.answer", "queued", recordCommand, ({ turn, by, text }, context) =>
          resume(turn, context, { by, note: text }),
        ),
        ...on("answer.refused", answerRefusal),
      },
    },
    done: { on: { ...over, ...moving, ...retrying } },
    closed: { on: over },
  },
});

function answerAgain({ turn, task }: { readonly turn: Turn<TaskAnswer>; readonly task: TaskRow }): void {
  turn.reply({ task, replayed: true });
}

/** Ends an actor whose task was never opened. */
function stopActor({ turn }: InTurn): void {
  turn.stop();
}

/** The actor of the machine above. */
export const taskActor = defineActor(taskRef, {
  machine: taskMachine,
  classify: classifyTask,
  version: 3,
  // Version 2 added the ended runs that a task remembers. Version 3 added the wait for pull requests.
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, initialContext, context) }),
});
