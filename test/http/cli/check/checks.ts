import { type CheckAnswer, checkSchema } from "../../../../http/cli/check/check-answer.js";

const side = {
  state: "finished",
  entries: 60,
  scored: 57,
  succeeded: 40,
  successRate: 0.7,
  tasksScored: 19,
  interval: { rate: 0.7, low: 0.521, high: 0.85 },
  spent: { amount: 3.2, currency: "EUR" },
};

/** A check as the service returns it; failed by default. */
export const failedCheck = {
  id: "rchk_1",
  teamId: "team_1",
  lineId: "line_1",
  stationId: "sta_1",
  stationKey: "work",
  setId: "set_1",
  setName: "Hard ones",
  setVersion: 4,
  candidateId: "cand_1",
  replayId: "rep_1",
  baselineReplayId: "rep_2",
  attempt: 1,
  reference: { commit: "abcdef1", pullRequest: 7 },
  liveFingerprint: "a",
  candidateFingerprint: "b",
  keptLive: ["check", "judge"],
  repeats: 3,
  threshold: { mostRegressions: 1, minGain: 0.05, ceiling: { amount: 10, currency: "EUR" }, unpricedRun: null },
  gain: { gain: -0.1, low: -0.21, high: 0.01, verdict: "within-noise", minGain: 0.05, tasks: 19 },
  verdict: "failed",
  undecidedBecause: null,
  tasks: 20,
  compared: 19,
  candidate: side,
  baseline: { ...side, succeeded: 55, successRate: 0.965, interval: { rate: 0.965, low: 0.9, high: 1 } },
  regressions: ["Mend the door", "Mend the roof"].map((title, index) => ({
    taskId: `task_${index}`,
    originalRunId: `run_${index}`,
    title,
    scoreDelta: -1,
    candidate: ["failed", "failed", "unscored"],
    baseline: ["succeeded", "succeeded", "succeeded"],
    reasons: [{ code: "check-failed", detail: "exit code 1" }],
  })),
  replayUrl: null,
  reused: false,
  createdAt: "2026-01-01T00:00:00.000Z",
  warnings: [],
};

export const runningCheck = { ...failedCheck, verdict: "running", regressions: [], gain: null };
export const passedCheck = { ...failedCheck, verdict: "passed", regressions: [] };

/** Returns a check as the client parses it, with changes. */
export function toCheck(changes: object = {}): CheckAnswer {
  return checkSchema.parse({ ...failedCheck, ...changes });
}
