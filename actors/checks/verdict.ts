import type { ReplayState } from "../replays/replay/replay.js";
import { isUnderWay } from "../replays/replay/replay.table.js";
import { type Copy, groupByTask, isScored } from "../statistics/copy.js";
import { findRegressions } from "../statistics/regression.js";

/** The verdicts of a check (see "Replay check verdict" in the replays document). All except `running` are final. */
export const verdicts = ["failed", "running", "undecided", "passed"] as const;
export type CheckVerdict = (typeof verdicts)[number];

/** Why a check is undecided. If several reasons apply, the first one in this order counts. */
export const undecidedReasons = [
  "replay-gone",
  "stopped",
  "over-ceiling",
  "no-baseline",
  "baseline-unfinished",
  "too-few-scored",
] as const;
export type UndecidedReason = (typeof undecidedReasons)[number];

/** One side of a check: a replay with all of its copies of the runs that the check replays. */
export interface CheckSide {
  readonly state: ReplayState;
  readonly copies: readonly Copy[];
}

/** The current state of the two replays. */
export interface CheckSides {
  /** The replay of the planned change; null if it is gone. */
  readonly candidate: CheckSide | null;
  /** The replay of the live config; null if it is gone. */
  readonly baseline: CheckSide | null;
  /** The runs that the check replays, in the order of their set. */
  readonly runs: readonly string[];
}

/** The result of deciding a check. */
export interface Decision {
  readonly verdict: CheckVerdict;
  /** Null unless the verdict is `undecided`. */
  readonly undecidedBecause: UndecidedReason | null;
  /** The number of tasks that regressed so far, and of tasks that both sides scored so far. */
  readonly regressed: number;
  readonly compared: number;
}

/**
 * Decides the verdict. The first case that applies counts:
 * 1. `failed`: more tasks regressed than allowed. This may be known while replays still run.
 * 2. `running`: a replay is still in progress.
 * 3. `undecided`: one of the {@link undecidedReasons} applies.
 * 4. `passed`.
 */
export function decide(sides: CheckSides, maxRegressions: number): Decision {
  const { candidate, baseline, runs } = sides;
  const [own, other] = [candidate?.copies ?? [], baseline?.copies ?? []];
  const regressed = findRegressions(own, other, runs).length;
  const compared = countCompared(own, other);
  const found = { undecidedBecause: null, regressed, compared };
  if (regressed > maxRegressions) return { ...found, verdict: "failed" };
  if ([candidate, baseline].some((side) => side !== null && isUnderWay(side))) return { ...found, verdict: "running" };
  const undecidedBecause = whyUndecided(sides, compared);
  return { ...found, undecidedBecause, verdict: undecidedBecause === null ? "passed" : "undecided" };
}

function whyUndecided({ candidate, baseline }: CheckSides, compared: number): UndecidedReason | null {
  if (candidate === null) return "replay-gone";
  if (candidate.state === "stopped") return "stopped";
  if (candidate.state === "over-budget") return "over-ceiling";
  if (baseline === null) return "no-baseline";
  if (baseline.state !== "finished") return "baseline-unfinished";
  return 2 * compared < groupByTask(candidate.copies).size ? "too-few-scored" : null;
}

/** Counts the tasks that both sides scored. */
function countCompared(own: readonly Copy[], other: readonly Copy[]): number {
  const scored = scoredTasks(other);
  return [...scoredTasks(own)].filter((taskId) => scored.has(taskId)).length;
}

function scoredTasks(copies: readonly Copy[]): ReadonlySet<string> {
  return new Set(copies.filter(isScored).map(({ taskId }) => taskId));
}
