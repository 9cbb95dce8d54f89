import type { MachineTable } from "../machine-tables.js";
import { pullRequestTable } from "./pull-requests.js";
import { runTable } from "./runs.js";
import { taskTable } from "./tasks.js";

const replayUnderWay = {
  "stop.refused": "same",
  "stop.repeated": "same",
  "replay.forget": "removing",
  "replay.other": "same",
  "copies.make": "same",
  "copy.taken": "running",
  "step.on": "same",
  "judging.answered": "same",
  "judging.on": "same",
  "step.finished": "finished",
  "step.over-budget": "over-budget",
  "replay.stop": "stopped",
};
const replayEnded = {
  "stop.refused": "same",
  "stop.repeated": "same",
  "replay.forget": "removing",
  "replay.other": "same",
  "copies.make": "same",
  "step.on": "same",
  "judging.answered": "same",
  "judging.on": "same",
  "judging.end": "same",
  "recheck.over": "same",
  "counterpart.ended": "same",
};

/** The events that a config pull request takes in every state after its first pick. */
const picked = { "pick.refused": "same", "pick.repeated": "same", "pull-request.forget": "none" };

/** The events that an archive takes in every state in which its commit is needed. */
const heldArchive = {
  "archive.hold": "same",
  "archive.unheld": "same",
  "archive.let-go": "absent",
  "archive.refused": "same",
  "archive.doubted": "same",
  "look.needless": "same",
};

/** The tables of the machines for tasks, runs, runners, pull requests and related work, by kind. */
export const workMachines: Readonly<Record<string, MachineTable>> = {
  task: taskTable,
  "pull-request": pullRequestTable,
  "pull-request-log": {
    keeping: {
      "host.news": "same",
      "review.begun": "same",
      "review.over": "same",
      woken: "same",
      "effect.ended": "same",
    },
  },
  "task-attachments": { fetching: { "files.attach": "same", "effect.ended": "same" } },
  "team-marks": {
    keeping: {
      "task.raise": "same",
      "raise.taken": "same",
      "raise.refused": "same",
      "marks.set": "same",
      "marks.free": "same",
      "marks.retake": "same",
      woken: "same",
    },
  },
  run: runTable,
  decisions: {
    none: {
      "draft.taken": "proposed",
      "draft.of-nothing": "same",
      "decisions.merged": "same",
      "decisions.closed": "same",
    },
    proposed: {
      "draft.taken": "same",
      "draft.of-nothing": "same",
      "decisions.merged": "stands",
      "decisions.closed": "discarded",
    },
    discarded: {
      "draft.taken": "proposed",
      "draft.of-nothing": "same",
      "decisions.merged": "same",
      "decisions.closed": "same",
    },
    stands: {
      "draft.taken": "same",
      "draft.of-nothing": "same",
      "decisions.merged": "same",
      "decisions.closed": "same",
    },
  },
  "config-pull-request": {
    none: { "candidate.pick": "opening", "pick.refused": "same", "pull-request.forget": "same" },
    opening: {
      ...picked,
      "candidate.pick": "same",
      "commit.due": "same",
      "commit.made": "same",
      "opening.due": "same",
      "opening.again": "same",
      "opening.limited": "same",
      "opening.refused": "refused",
      "opening.done": "opened",
    },
    opened: { ...picked, "candidate.pick": "same" },
    refused: { ...picked, "candidate.pick": "opening" },
  },
  "replay-sets": {
    open: {
      "set.open": "same",
      "set.rename": "same",
      "set.delete": "same",
      "entry.add": "same",
      "entry.remove": "same",
      "guard.mark": "same",
      "replay.start": "same",
      "replay.finished": "same",
      "commits.hold": "same",
      "sets.dissolve": "same",
      woken: "same",
    },
  },
  replay: {
    "new": { "replay.begin": "queued", "stop.refused": "same", "replay.forget": "removing", "replay.other": "same" },
    queued: { ...replayUnderWay, "copies.make-last": "finished" },
    running: replayUnderWay,
    finished: replayEnded,
    stopped: replayEnded,
    "over-budget": replayEnded,
    removing: { "stop.refused": "same", "replay.forget": "same", "replay.other": "same", "copies.remove": "same" },
  },
  "replay-check": {
    any: { "start.answered": "same", "start.refused": "same", "check.forget": "new", "check.other": "same" },
    "new": { "start.made": "running" },
    running: {
      "moved.on": "same",
      "moved.failed": "failed",
      "moved.passed": "passed",
      "moved.undecided": "undecided",
    },
    failed: { "moved.on": "same" },
    passed: { "moved.on": "same" },
    undecided: { "moved.on": "same" },
  },
  dispatcher: {
    placing: {
      "run.queue": "same",
      "run.unqueue": "same",
      "runner.offer": "same",
      "runner.forget": "same",
      "claim.release": "same",
      "lane.limit": "same",
      "pools.changed": "same",
    },
  },
  runner: {
    any: { tell: "same", "claim.given": "same", "claim.dropped": "same" },
    absent: { "runner.began": "connected" },
    connected: {
      "runner.began": "same",
      "runner.returned": "same",
      "slots.changed": "same",
      "run.said": "same",
      "report.repeated": "same",
      "runner.beat": "same",
      "runner.left": "away",
      "runner.adrift": "away",
      "claim.ended": "same",
      "lease.late": "same",
      "lease.over": "away",
    },
    away: {
      "runner.began": "connected",
      "runner.returned": "connected",
      "runner.adrift": "same",
      "claim.ended": "same",
      "lease.late": "same",
      "lease.over": "same",
    },
  },
  archive: {
    absent: { "archive.hold": "wanted", "archive.unheld": "same", "look.needless": "same", "archive.refused": "same" },
    wanted: {
      ...heldArchive,
      "archive.take": "taken",
      "asked.again": "same",
      "time.over": "refused",
    },
    taken: {
      ...heldArchive,
      "archive.take": "same",
      "found.on-branch": "served",
      "found.nowhere": "wanted",
      "found.too-large": "refused",
      "pack.begun": "same",
      "pack.resumed": "same",
      "pack.unfit": "wanted",
      "chunk.next": "same",
      "chunk.last": "kept",
      "chunk.repeated": "same",
      "chunk.false": "wanted",
      "runner.silent": "wanted",
    },
    served: { ...heldArchive, "archive.doubted": "wanted", "archive.take": "taken", "asked.again": "same" },
    kept: { ...heldArchive, "take.repeated": "same", "pack.resumed": "same", "chunk.repeated": "same" },
    refused: heldArchive,
  },
};
