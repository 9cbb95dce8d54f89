import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines for integrations' action runs, schedules and polls, by kind. */
export const actionMachines: Readonly<Record<string, MachineTable>> = {
  "action-run": {
    new: {
      "run.begun": "attempting",
      "run.skipped": "same",
      "run.repeated": "same",
      "resend.begun": "attempting",
      "resend.answered": "same",
    },
    attempting: {
      "attempt.done": "done",
      "attempt.retry": "waiting",
      "attempt.failed": "failed",
    },
    waiting: { woken: "attempting" },
    done: {},
    failed: {},
  },
  schedule: {
    none: { "check.set": "resting", "check.gone": "same", "over.other": "same" },
    resting: {
      "check.set": "same",
      "check.gone": "none",
      "due.set": "running",
      "due.gone": "none",
      "over.other": "same",
    },
    running: {
      "check.set": "same",
      "check.gone": "same",
      "over.set": "resting",
      "over.gone": "none",
      "over.other": "same",
    },
  },
  poll: {
    any: { "now.refused": "same", "cursor.refused": "same", "now.repeated": "same", "answer.other": "same" },
    off: { "check.set": "resting", "check.off": "same", "check.gone": "same", "due.off": "same" },
    resting: {
      "check.set": "same",
      "check.off": "off",
      "check.gone": "off",
      "due.off": "off",
      "due.usable": "asking",
      "due.unlinked": "same",
      "now.usable": "asking",
      "now.unlinked": "same",
      "poll.cursor": "same",
    },
    asking: {
      "check.set": "same",
      "check.off": "off",
      "check.gone": "off",
      "answer.success": "resting",
      "answer.failure": "resting",
      "now.usable": "same",
      "now.unlinked": "same",
      "poll.cursor": "same",
    },
  },
};
