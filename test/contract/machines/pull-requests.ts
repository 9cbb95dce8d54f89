import type { MachineTable } from "../machine-tables.js";

/**
 * The events that a pull request takes in every state except `none`. The next state of an event does not depend on the
 * state.
 */
const known = {
  "request.refused": "same",
  "pull-request.forget": "none",
  "became.same": "same",
  "look.same": "same",
  "look.later": "same",
  "look.gone": "same",
  "refresh.taken": "same",
  "request.repeated": "same",
  "pull-request.comment": "same",
  "comment.due": "same",
  "comment.ended": "same",
  reverted: "same",
};

/** The events of a pull request to which a run is about to push. */
const underWay = {
  ...known,
  "became.merged": "merged",
  "left.none": "none",
  "left.open": "open",
  "left.failed": "failed",
  "ask.refused": "same",
  "became.closed": "closed",
  "look.due": "same",
};

/** The table of the pull request machine. */
export const pullRequestTable: MachineTable = {
  none: {
    "ask.vet": "vetting",
    "ask.refused-none": "same",
    "request.refused": "same",
    "pull-request.forget": "same",
  },
  vetting: { ...underWay, "vet.allowed": "pushing" },
  pushing: {
    ...underWay,
    "pushed.first": "opening",
    "pushed.again": "open",
    "push.retried": "vetting",
    "pull-request.limited": "same",
    "push.waits": "same",
    "push.due": "same",
  },
  opening: {
    ...known,
    "became.merged": "merged",
    "ask.later": "same",
    "later.lost": "same",
    "opening.due": "same",
    "opening.again": "same",
    "opening.limited": "same",
    "opening.failed": "failed",
    "became.open": "open",
    "became.closed": "closed",
    "ask.refused": "same",
  },
  open: {
    ...known,
    "became.merged": "merged",
    "ask.vet": "vetting",
    "ask.push": "pushing",
    "ask.refused": "same",
    "became.closed": "closed",
    "look.due": "same",
  },
  closed: {
    ...known,
    "became.merged": "merged",
    "became.open": "open",
    "pushed.over": "same",
    "ask.refused": "same",
  },
  merged: {
    ...known,
    "files.due": "same",
    "files.later": "same",
    "files.read": "same",
    "pushed.over": "same",
    "ask.refused": "same",
  },
  failed: {
    ...known,
    "became.merged": "merged",
    "ask.vet": "vetting",
    "ask.refused": "same",
    "became.open": "open",
    "became.closed": "closed",
    "pull-request.retry": "opening",
  },
};
