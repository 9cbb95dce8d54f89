import type { MachineTable } from "../machine-tables.js";

/** The events that a run takes in every state after its start. */
const always = {
  "message.taken": "same",
  "message.refused": "same",
  "approval.answered": "same",
  "approval.repeated": "same",
  "approval.refused": "same",
  "claim.stale": "same",
  "call.over": "same",
};

/** The events that a run with a runner takes, before and after its agent starts. */
const atWork = {
  "push.granted": "same",
  "push.reported": "same",
  "push.late": "same",
  "told.one": "same",
  "wish.taken": "same",
  "wish.refused": "same",
  "push.unanswered": "same",
  ...always,
  "run.end": "ended",
  "run.step": "same",
  "run.heard": "same",
  "run.permission": "same",
  "run.tool-call": "same",
  "run.tool-cancelled": "same",
  "call.waits": "same",
  "run.handover": "same",
  "handover.answered": "same",
  "run.ended": "ended",
  "claim.lost": "ended",
  "run.stop": "same",
  "stop.late": "same",
  "stop.unanswered": "ended",
  "start.agreed": "same",
};

/** The table of the run machine. */
export const runTable: MachineTable = {
  "new": { "run.start": "queued", "run.forget": "same", "claim.orphaned": "same" },
  queued: {
    ...always,
    "run.claim": "claimed",
    "run.end": "ended",
  },
  claimed: {
    ...atWork,
    "start.refused": "ended",
    "run.started": "running",
    "job.undeliverable": "ended",
  },
  running: {
    ...atWork,
    "end.held": "ending",
    "start.refused": "same",
  },
  ending: {
    ...always,
    "push.granted": "same",
    "push.reported": "same",
    "push.late": "same",
    "push.unanswered": "ended",
    "told.one": "same",
    "pushes.over": "ended",
    "claim.lost": "ended",
    "run.end": "ended",
    "stop.late": "same",
    "stop.unanswered": "same",
  },
  ended: {
    ...always,
    "run.claim": "same",
    "run.forget": "same",
  },
};
