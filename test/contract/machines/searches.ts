import type { MachineTable } from "../machine-tables.js";

const searchStarted = {
  "start.repeated": "same",
  "stop.refused": "same",
  "stop.repeated": "same",
  "search.forget": "same",
  "search.other": "same",
  "candidate.measured": "same",
};
const searchUnderWay = {
  ...searchStarted,
  "steps.searching": "searching",
  "steps.holding-out": "holding-out",
  "steps.finished": "finished",
  "steps.stopped": "stopped",
  "replay.looked-at": "same",
  "search.stop": "stopped",
};

const iterationStarted = { "agent.refused": "same", "iteration.forget": "same", "iteration.other": "same" };
const iterationUnderWay = {
  ...iterationStarted,
  "agent.ended": "ended",
  "agent.failed": "failed",
  "agent.lost": "wanted",
  "iteration.stop": "failed",
  "proposal.admitted": "same",
  "proposal.refused": "same",
  "cause.taken": "same",
  "agent.repeated": "same",
};
const iterationOver = { ...iterationStarted, "agent.settled": "same" };

/** The tables of the search machines, by kind. */
export const searchMachines: Readonly<Record<string, MachineTable>> = {
  search: {
    "new": {
      "start.repeated": "same",
      "stop.refused": "same",
      "search.forget": "same",
      "search.other": "same",
      "search.starts": "seeding",
      "start.refused": "same",
    },
    seeding: { ...searchUnderWay, "steps.seeding": "same" },
    searching: searchUnderWay,
    "holding-out": searchUnderWay,
    finished: searchStarted,
    stopped: searchStarted,
  },
  "search-iteration": {
    "new": {
      "iteration.begin": "wanted",
      "agent.refused": "same",
      "iteration.forget": "same",
      "iteration.other": "same",
    },
    wanted: { ...iterationUnderWay, "agent.taken": "running", "agent.unclaimed": "failed" },
    running: iterationUnderWay,
    ended: iterationOver,
    failed: iterationOver,
  },
};
