import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines of actions that integrations do by themselves, by kind. */
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
      "attempt.again": "same",
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
};
