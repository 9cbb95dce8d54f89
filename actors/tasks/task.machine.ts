/**
 * A task, `task/<id>`, moving through the stations of its line. Messages are classified before the step
 * (`classify-task.ts`). Where an event has another name than its message, the message follows in brackets.
 *
 * What becomes of its runs after their ends (`ended-runs.ts`): `over.done` accepts the changes that stand, a way back
 * (`over.queued`, `task.move`) sends them back, and each command of a person is the next act after them.
 *
 * | state          | moved by                               | next    | also                                          |
 * |----------------|----------------------------------------|---------|-----------------------------------------------|
 * | new            | task.open                              | queued  | fact `task.opened`; a run is queued           |
 * | new            | opening.refused (task.open): line,     | new     | refused; leaves nothing                       |
 * |                | station or assignee gone               |         |                                               |
 * | new            | raise.open                             | queued  | as task.open, for an event of an integration; |
 * |                |                                        |         | answers the marks of its team                 |
 * | new            | raise.unopened (raise.open): line or   | new     | so they are told                              |
 * |                | station gone                           |         |                                               |
 * | new            | raise.untold (raise.tell): never opened| new     | so they are told                              |
 * | queued         | run.began                              | running |                                               |
 * | any open       | approval.wanted (run.asking)           | inbox   | its run waits; `asks` says what for           |
 * | any open       | approval.not-wanted (run.asking)       | running | its run does not wait any more                |
 * | any open       | over.queued (run.over), handed over    | queued  | fact `task.moved`; a run at the next station  |
 * | any open       | over.queued (run.over), abandoned      | queued  | another attempt, five in a row at most        |
 * | any open       | over.done (run.over), finished where   | done    |                                               |
 * |                | none follows                           |         |                                               |
 * | any open       | over.opening (run.over), finished with | opening | shown as `running`                            |
 * |                | pull requests that are being opened    |         |                                               |
 * | any open       | over.inbox (run.over), otherwise       | inbox   | waits for its assignee; `asks` says why       |
 * | opening        | opened.done (pull-request.changed),    | done    |                                               |
 * |                | all are open                           |         |                                               |
 * | opening        | opened.inbox (the same), one failed    | inbox   | `asks` says why                               |
 * | any but new    | pull-request.changed                   | same    | `pullRequest`; a merge accepts what stands    |
 * | done           | task.move, task.retry, while its pull  | queued  | as from the inbox; unassigned with a note if  |
 * |                | request is open                        |         | its assignee left the team                    |
 * | any open       | task.stop by the assignee              | same    | the run is told to end                        |
 * | any open       | stop.refused (task.stop)               | same    | refused; not taken where no run is            |
 * | inbox          | task.answer by the assignee            | queued  | the answer reaches the next run               |
 * | inbox          | answer.refused (task.answer)           | inbox   | refused; also while a run waits               |
 * | inbox          | task.retry                             | queued  | a run at the same station                     |
 * | inbox          | retry.refused (task.retry)             | inbox   | refused while a run waits                     |
 * | any open       | task.move                              | queued  | the run is superseded; fact `task.moved`      |
 * | any open       | move.refused (task.move): no station   | same    | refused                                       |
 * | any open       | task.close, task.withdraw              | closed  | the run is withdrawn                          |
 * | any open       | task.assign                            | same    |                                               |
 * | any open       | assignment.refused (task.assign): who  | same    | refused                                       |
 * |                | is not on the team                     |         |                                               |
 * | any open       | task.unassign of its assignee          | same    | who left; a note says so                      |
 * | done,closed    | task.unassign                          | same    |                                               |
 * | any but new    | asking.other, over.other (run.asking,  | same    |                                               |
 * |                | run.over of another run)               |         |                                               |
 * | queued         | began.other (run.began of another run) | queued  |                                               |
 * | any but new    | task.note                              | same    | a person's note                               |
 * | any but new    | raise.tell                             | same    | what an event says is a note, never an answer;|
 * |                |                                        |         | its marks, branch and channel are set         |
 * | any but new    | task.mark                              | same    | marks are set                                 |
 * | done,closed,   | forget.due (task.forget)               | (ended) | removed, with its runs                        |
 * | new            |                                        |         |                                               |
 * | done,closed    | forget.begun (the same, of an earlier  | same    | its end is now                                |
 * |                | release)                               |         |                                               |
 * | any but new    | forget.kept (the same): open, pinned,  | same    |                                               |
 * |                | or something refers to it              |         |                                               |
 * | any            | note                                   | same    | added once for each key                       |
 * | any            | command.repeated (a command under a    | same    | answered with the task that it opened or was  |
 * |                | key that was taken before)             |         | about; a new one leaves nothing               |
 * | any            | repeat.refused (the same, with another | same    | refused; a new one leaves nothing             |
 * |                | body)                                  |         |                                               |
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyTask } from "./classify-task.js";
import { taskRef } from "./task.messages.js";
import { beginRetention, forgetTask, recordTaskRequest } from "./task.retention.js";
import {
  addNote,
  addPersonsNote,
  advance,
  close,
  endOpening,
  markRunning,
  markTask,
  openTask,
  reassign,
  recordCauses,
  resume,
  setAsks,
  stop,
  takePullRequest,
  unassign,
} from "./task.transitions.js";
import type { TaskContext, TaskEvent } from "./task-events.js";
import { openRaised, refuseRaise, tellRaised } from "./task-raises.js";

const begun: TaskContext = { runId: null, abandoned: 0, ended: [], opening: [] };

/** Transitions of every open state. */
const open = {
  "approval.wanted": { target: "inbox", actions: "setAsks" },
  "approval.not-wanted": { target: "running", actions: "setAsksNothing" },
  "over.queued": { target: "queued", actions: "advance" },
  "over.done": { target: "done", actions: "advance" },
  "over.inbox": { target: "inbox", actions: "advance" },
  "over.opening": { target: "opening", actions: "advance" },
  "pull-request.changed": { actions: "takePullRequest" },
  "task.stop": { actions: ["recordCommand", "stop"] },
  "stop.refused": { actions: "refuse" },
  "task.move": { target: "queued", actions: ["recordCommand", "move"] },
  "move.refused": { actions: "refuse" },
  "task.close": { target: "closed", actions: ["recordCommand", "close"] },
  "task.withdraw": { target: "closed", actions: "close" },
  "task.assign": { actions: "assign" },
  "assignment.refused": { actions: "refuse" },
  "task.unassign": { actions: "unassign" },
  "task.note": { actions: "addPersonsNote" },
  "raise.tell": { actions: "tellRaised" },
  "task.mark": { actions: "mark" },
  "asking.other": { actions: "ignore" },
  "over.other": { actions: "ignore" },
  "forget.kept": { actions: "ignore" },
} as const;

/** Transitions of a task that is over. */
const over = {
  "pull-request.changed": { actions: "takePullRequest" },
  "forget.due": { actions: "forget" },
  "forget.begun": { actions: "beginRetention" },
  "forget.kept": { actions: "ignore" },
  "task.unassign": { actions: "ignore" },
  "task.note": { actions: "addPersonsNote" },
  "raise.tell": { actions: "tellRaised" },
  "task.mark": { actions: "mark" },
  "asking.other": { actions: "ignore" },
  "over.other": { actions: "ignore" },
} as const;

const machine = setup({
  types: { context: {} as TaskContext, events: {} as Delivered<TaskEvent> },
  actions: {
    refuse: ({ event }) => {
      assertEvent(event, [
        ...(["opening.refused", "answer.refused", "stop.refused", "retry.refused"] as const),
        ...(["move.refused", "assignment.refused", "repeat.refused"] as const),
      ]);
      event.turn.reply(event.refusal);
    },
    answerAgain: ({ event }) => {
      assertEvent(event, "command.repeated");
      event.turn.reply({ task: event.task, replayed: true });
    },
    addPersonsNote: ({ event }) => {
      assertEvent(event, "task.note");
      addPersonsNote(event);
    },
    leave: ({ event }) => event.turn.stop(),
    refuseRaise: ({ event }) => {
      assertEvent(event, ["raise.unopened", "raise.untold"]);
      refuseRaise(event.turn, event);
    },
    tellRaised: ({ event }) => {
      assertEvent(event, "raise.tell");
      tellRaised(event.turn, event);
    },
    mark: ({ event }) => {
      assertEvent(event, "task.mark");
      markTask(event.turn, event);
    },
    setAsks: ({ event }) => {
      assertEvent(event, "approval.wanted");
      setAsks(event.turn, event.asks);
    },
    setAsksNothing: ({ event }) => setAsks(event.turn, null),
    takePullRequest: assign(({ context, event }) => {
      assertEvent(event, "pull-request.changed");
      return takePullRequest(event, context);
    }),
    endOpening: assign(({ context, event }) => {
      assertEvent(event, ["opened.done", "opened.inbox"]);
      return endOpening(event, context);
    }),
    advance: assign(({ context, event }) => {
      assertEvent(event, ["over.queued", "over.done", "over.inbox", "over.opening"]);
      return advance(event, context);
    }),
    recordCommand: ({ event }) => {
      assertEvent(event, ["task.stop", "task.answer", "task.retry", "task.move", "task.close"]);
      recordCauses(event.turn, event);
      recordTaskRequest(event.turn, event, event.turn.self.id);
    },
    stop: assign(({ context, event }) => {
      assertEvent(event, "task.stop");
      return stop(event, context);
    }),
    move: assign(({ context, event }) => {
      assertEvent(event, "task.move");
      return resume(event.turn, context, null, { to: event.to, by: event.by });
    }),
    retry: assign(({ context, event }) => {
      assertEvent(event, "task.retry");
      return resume(event.turn, context, null);
    }),
    close: assign(({ context, event }) => {
      assertEvent(event, ["task.close", "task.withdraw"]);
      return close(event, context);
    }),
    assign: ({ event }) => {
      assertEvent(event, "task.assign");
      recordTaskRequest(event.turn, event, event.turn.self.id);
      reassign(event);
    },
    unassign: ({ event }) => {
      assertEvent(event, "task.unassign");
      unassign(event.turn, event);
    },
    forget: ({ event }) => forgetTask(event.turn),
    beginRetention: ({ event }) => beginRetention(event.turn),
    ignore: () => undefined,
  },
}).createMachine({
  id: "task",
  context: begun,
  initial: "new",
  on: {
    note: { actions: ({ event }) => addNote(event.turn, event) },
    "command.repeated": { actions: "answerAgain" },
    "repeat.refused": { actions: "refuse" },
  },
  states: {
    new: {
      on: {
        "task.open": { target: "queued", actions: assign(({ event }) => openTask(event)) },
        "raise.open": { target: "queued", actions: assign(({ event }) => openRaised(event.turn, event)) },
        "raise.unopened": { target: "new", actions: ["refuseRaise", "leave"] },
        "raise.untold": { target: "new", actions: ["refuseRaise", "leave"] },
        "opening.refused": { target: "new", actions: ["refuse", "leave"] },
        "command.repeated": { target: "new", actions: ["answerAgain", "leave"] },
        "repeat.refused": { target: "new", actions: ["refuse", "leave"] },
        "forget.due": { target: "new", actions: "forget" },
      },
    },
    queued: {
      on: {
        ...open,
        "run.began": { target: "running", actions: ({ event }) => markRunning(event.turn) },
        "began.other": { actions: "ignore" },
      },
    },
    running: { on: open },
    opening: {
      on: {
        ...open,
        "opened.done": { target: "done", actions: "endOpening" },
        "opened.inbox": { target: "inbox", actions: "endOpening" },
      },
    },
    inbox: {
      on: {
        ...open,
        "task.answer": {
          target: "queued",
          actions: [
            "recordCommand",
            assign(({ context, event }) =>
              resume(event.turn, context, { from: `person ${event.by}`, text: event.text }),
            ),
          ],
        },
        "answer.refused": { actions: "refuse" },
        "task.retry": {
          target: "queued",
          actions: ["recordCommand", "retry"],
        },
        "retry.refused": { actions: "refuse" },
      },
    },
    done: {
      on: {
        ...over,
        "task.move": { target: "queued", actions: ["recordCommand", "move"] },
        "move.refused": { actions: "refuse" },
        "task.retry": { target: "queued", actions: ["recordCommand", "retry"] },
      },
    },
    closed: { on: over },
  },
});

/** See the table above. */
export const taskActor = defineActor(taskRef, {
  ...{ machine, classify: classifyTask, version: 3 },
  // Before version 2 a task remembered no ended runs, before version 3 it waited for no pull requests.
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, begun, context) }),
});
