import type { MachineTable } from "../machine-tables.js";

/** The events that a task takes in every state after it is opened. */
const always = {
  "task.unassign": "same",
  "task.note": "same",
  "raise.tell": "same",
  "task.mark": "same",
  "asking.other": "same",
  "over.other": "same",
};

/** The events that an open task takes in every state. */
const open = {
  "pull-request.changed": "same",
  "over.done": "done",
  "task.stop": "same",
  "stop.refused": "same",
  "move.refused": "same",
  "task.close": "closed",
  "task.withdraw": "closed",
  "task.assign": "same",
  "assignment.refused": "same",
  ...always,
  "forget.kept": "same",
};

/** The table of the task machine. */
export const taskTable: MachineTable = {
  any: { note: "same", "command.repeated": "same", "repeat.refused": "same", "token.refused": "same" },
  "new": {
    "task.open": "queued",
    "opening.refused": "same",
    "raise.open": "queued",
    "raise.unopened": "same",
    "raise.untold": "same",
    "forget.due": "same",
  },
  queued: {
    ...open,
    "over.opening": "opening",
    "approval.wanted": "inbox",
    "approval.not-wanted": "running",
    "over.queued": "same",
    "over.inbox": "inbox",
    "task.move": "same",
    "run.began": "running",
    "began.other": "same",
  },
  running: {
    ...open,
    "over.opening": "opening",
    "approval.wanted": "inbox",
    "approval.not-wanted": "same",
    "over.queued": "queued",
    "over.inbox": "inbox",
    "task.move": "queued",
  },
  opening: {
    ...open,
    "over.opening": "same",
    "approval.wanted": "inbox",
    "approval.not-wanted": "running",
    "over.queued": "queued",
    "over.inbox": "inbox",
    "task.move": "queued",
    "opened.done": "done",
    "opened.inbox": "inbox",
  },
  inbox: {
    ...open,
    "over.opening": "opening",
    "approval.wanted": "same",
    "approval.not-wanted": "running",
    "over.queued": "queued",
    "over.inbox": "same",
    "task.move": "queued",
    "task.answer": "queued",
    "answer.refused": "same",
    "task.retry": "queued",
    "retry.refused": "same",
  },
  done: {
    "task.move": "queued",
    "move.refused": "same",
    "task.retry": "queued",
    "pull-request.changed": "same",
    ...always,
    "forget.due": "same",
    "forget.begun": "same",
    "forget.kept": "same",
  },
  closed: {
    "pull-request.changed": "same",
    ...always,
    "forget.due": "same",
    "forget.begun": "same",
    "forget.kept": "same",
  },
};
