import type { MachineTable } from "../machine-tables.js";

/** What a run takes alike from its start on. */
const always = {
  "message.taken": "same",
  "message.refused": "same",
  "approval.answered": "same",
  "approval.repeated": "same",
  "approval.refused": "same",
  "claim.stale": "same",
  "call.over": "same",
};

/** What a run with a runner takes alike, whether its agent has begun or not. */
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

/** The table of the machine of runs. */
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
