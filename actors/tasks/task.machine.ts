/**
 * A task, `task/<id>`, moving through the stations of its line.
 *
 * | state          | moved by                               | next    | also                                          |
 * |----------------|----------------------------------------|---------|-----------------------------------------------|
 * | new            | task.open                              | queued  | fact `task.opened`; a run is queued           |
 * | new            | task.open, line, station or assignee   | new     | refused                                       |
 * |                | gone                                   |         |                                               |
 * | queued         | run.began                              | running |                                               |
 * | running,inbox  | run.asking, for leave to make a call   | inbox   | its run waits; the assignee is told for what  |
 * | inbox          | run.asking, for none any more          | running |                                               |
 * | queued,running | run.over, handed over                  | queued  | fact `task.moved`; a run at the next station  |
 * | queued,running | run.over, abandoned                    | queued  | another attempt, five in a row at most        |
 * | queued,running | run.over, finished where none follows  | done    |                                               |
 * | queued,running | run.over, otherwise                    | inbox   | waits on its assignee, who is told why        |
 * | inbox, a run   | run.over                               | likewise|                                               |
 * | waits there    |                                        |         |                                               |
 * | queued,running | task.stop by the assignee              | same    | the run is told to end; in the inbox too      |
 * |                |                                        |         | while a run waits there                       |
 * | inbox          | task.answer by the assignee            | queued  | the answer reaches the next run; refused      |
 * |                |                                        |         | while a run waits                             |
 * | inbox          | task.retry                             | queued  | a run at the same station; likewise           |
 * | any open       | task.move                              | queued  | the run is superseded; fact `task.moved`      |
 * | any open       | task.close, task.withdraw              | closed  | the run is withdrawn                          |
 * | any open       | task.assign                            | same    | refused for who is not in the workspace       |
 * | any open       | task.unassign of its assignee          | same    | who left; a note says so                      |
 * | any            | note                                   | same    | said once for each key                        |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import type { RunAsking, RunBegan, RunOver } from "../runs/run.messages.js";
import * as messages from "./task.messages.js";
import {
  addNote,
  advance,
  close,
  endRunUnderWay,
  markRunning,
  nextStation,
  openTask,
  reassign,
  recordCauses,
  refusedWhileAsked,
  refuseUnlessAssignee,
  refuseUnlessMember,
  refuseUnlessOpens,
  refuseUnlessStation,
  resume,
  setAsks,
  unassign,
} from "./task.transitions.js";

export interface TaskContext {
  /** The run under way, or null. */
  readonly runId: string | null;
  /** Runs abandoned in a row. */
  readonly abandoned: number;
}

type TaskEvent = Delivered<
  | messages.OpenTask
  | messages.AnswerTask
  | messages.StopTask
  | messages.RetryTask
  | messages.MoveTask
  | messages.CloseTask
  | messages.AssignTask
  | messages.UnassignTask
  | messages.NoteTask
  | messages.WithdrawTask
  | RunBegan
  | RunAsking
  | RunOver
>;

const machine = setup({
  types: { context: {} as TaskContext, events: {} as TaskEvent },
  guards: {
    isOther: ({ context, event }) => "runId" in event && event.runId !== context.runId,
    movesOn: ({ context, event }) => event.type === "run.over" && nextStation(event, context).next === "queued",
    finishes: ({ context, event }) => event.type === "run.over" && nextStation(event, context).next === "done",
    opens: ({ event }) => event.type === "task.open" && refuseUnlessOpens(event) === null,
    isAssignee: ({ event }) => "by" in event && refuseUnlessAssignee(event.turn, event.by) === null,
    isAsked: ({ event }) => event.type === "run.asking" && event.asks !== null,
    /** In the inbox: whether a run is under way, that waits for leave. */
    isAsking: ({ context }) => context.runId !== null,
    isAssigneeOfRun: ({ context, event }) =>
      context.runId !== null && "by" in event && refuseUnlessAssignee(event.turn, event.by) === null,
    isMember: ({ event }) => event.type === "task.assign" && refuseUnlessMember(event.turn, event.assignee) === null,
    isStation: ({ event }) => event.type === "task.move" && refuseUnlessStation(event.turn, event.to) === null,
  },
  actions: {
    open: assign(({ context, event }) => (event.type === "task.open" ? openTask(event) : context)),
    markRunning: ({ event }) => markRunning(event.turn),
    advance: assign(({ context, event }) => (event.type === "run.over" ? advance(event, context) : context)),
    answer: assign(({ context, event }) =>
      event.type === "task.answer"
        ? resume(event.turn, context, { from: `person ${event.by}`, text: event.text })
        : context,
    ),
    retry: assign(({ context, event }) => resume(event.turn, context, null)),
    recordCauses: ({ event }) => recordCauses(event.turn, "causes" in event ? event : {}),
    move: assign(({ context, event }) =>
      event.type === "task.move" ? resume(event.turn, context, null, { to: event.to, by: event.by }) : context,
    ),
    stop: ({ context, event }) =>
      endRunUnderWay(event.turn, context, { outcome: "stopped", reason: "The assignee stopped it." }),
    close: assign(({ context, event }) => close(event.turn, context)),
    assign: ({ event }) => {
      if (event.type === "task.assign") reassign(event.turn, event.assignee);
    },
    addNote: ({ event }) => {
      if (event.type === "note") addNote(event.turn, event);
    },
    refuseOpening: ({ event }) => {
      if (event.type === "task.open") event.turn.reply(refuseUnlessOpens(event));
    },
    refuseAssignee: ({ event }) => {
      if ("by" in event) event.turn.reply(refuseUnlessAssignee(event.turn, event.by));
    },
    refuseStation: ({ event }) => {
      if (event.type === "task.move") event.turn.reply(refuseUnlessStation(event.turn, event.to));
    },
    unassign: ({ event }) => {
      if (event.type === "task.unassign") unassign(event.turn, event);
    },
    refuseAssignment: ({ event }) => {
      if (event.type === "task.assign") event.turn.reply(refuseUnlessMember(event.turn, event.assignee));
    },
    setAsks: ({ event }) => {
      if (event.type === "run.asking") setAsks(event.turn, event.asks);
    },
    refuseWhileAsked: ({ event }) => event.turn.reply(refusedWhileAsked),
    ignore: () => undefined,
  },
}).createMachine({
  id: "task",
  context: { runId: null, abandoned: 0 },
  initial: "new",
  on: { note: { actions: "addNote" } },
  states: {
    new: {
      on: {
        "task.open": [
          { guard: "opens", target: "queued", actions: "open" },
          { target: "new", actions: "refuseOpening" },
        ],
      },
    },
    queued: {
      on: {
        "run.began": [
          { guard: "isOther", actions: "ignore" },
          { target: "running", actions: "markRunning" },
        ],
        "run.asking": [
          { guard: "isOther", actions: "ignore" },
          { guard: "isAsked", target: "inbox", actions: "setAsks" },
          { target: "running", actions: "setAsks" },
        ],
        "run.over": [
          { guard: "isOther", actions: "ignore" },
          { guard: "movesOn", target: "queued", actions: "advance" },
          { guard: "finishes", target: "done", actions: "advance" },
          { target: "inbox", actions: "advance" },
        ],
        "task.stop": [{ guard: "isAssignee", actions: ["recordCauses", "stop"] }, { actions: "refuseAssignee" }],
        "task.move": [
          { guard: "isStation", target: "queued", actions: ["recordCauses", "move"] },
          { actions: "refuseStation" },
        ],
        "task.close": { target: "closed", actions: ["recordCauses", "close"] },
        "task.withdraw": { target: "closed", actions: "close" },
        "task.assign": [{ guard: "isMember", actions: "assign" }, { actions: "refuseAssignment" }],
        "task.unassign": { actions: "unassign" },
      },
    },
    running: {
      on: {
        "run.asking": [
          { guard: "isOther", actions: "ignore" },
          { guard: "isAsked", target: "inbox", actions: "setAsks" },
          { target: "running", actions: "setAsks" },
        ],
        "run.over": [
          { guard: "isOther", actions: "ignore" },
          { guard: "movesOn", target: "queued", actions: "advance" },
          { guard: "finishes", target: "done", actions: "advance" },
          { target: "inbox", actions: "advance" },
        ],
        "task.stop": [{ guard: "isAssignee", actions: ["recordCauses", "stop"] }, { actions: "refuseAssignee" }],
        "task.move": [
          { guard: "isStation", target: "queued", actions: ["recordCauses", "move"] },
          { actions: "refuseStation" },
        ],
        "task.close": { target: "closed", actions: ["recordCauses", "close"] },
        "task.withdraw": { target: "closed", actions: "close" },
        "task.assign": [{ guard: "isMember", actions: "assign" }, { actions: "refuseAssignment" }],
        "task.unassign": { actions: "unassign" },
      },
    },
    inbox: {
      on: {
        "run.asking": [
          { guard: "isOther", actions: "ignore" },
          { guard: "isAsked", target: "inbox", actions: "setAsks" },
          { target: "running", actions: "setAsks" },
        ],
        "run.over": [
          { guard: "isOther", actions: "ignore" },
          { guard: "movesOn", target: "queued", actions: "advance" },
          { guard: "finishes", target: "done", actions: "advance" },
          { target: "inbox", actions: "advance" },
        ],
        "task.stop": [
          { guard: "isAssigneeOfRun", actions: ["recordCauses", "stop"] },
          { guard: "isAsking", actions: "refuseAssignee" },
        ],
        "task.answer": [
          { guard: "isAsking", actions: "refuseWhileAsked" },
          { guard: "isAssignee", target: "queued", actions: ["recordCauses", "answer"] },
          { actions: "refuseAssignee" },
        ],
        "task.retry": [
          { guard: "isAsking", actions: "refuseWhileAsked" },
          { target: "queued", actions: ["recordCauses", "retry"] },
        ],
        "task.move": [
          { guard: "isStation", target: "queued", actions: ["recordCauses", "move"] },
          { actions: "refuseStation" },
        ],
        "task.close": { target: "closed", actions: ["recordCauses", "close"] },
        "task.withdraw": { target: "closed", actions: "close" },
        "task.assign": [{ guard: "isMember", actions: "assign" }, { actions: "refuseAssignment" }],
        "task.unassign": { actions: "unassign" },
      },
    },
    done: {
      on: {
        "run.over": { actions: "ignore" },
        "run.asking": { actions: "ignore" },
        "task.unassign": { actions: "ignore" },
      },
    },
    closed: {
      on: {
        "run.over": { actions: "ignore" },
        "run.asking": { actions: "ignore" },
        "task.unassign": { actions: "ignore" },
      },
    },
  },
});

/** See the table above. */
export const taskActor = defineActor(messages.taskRef, { machine, version: 1 });
