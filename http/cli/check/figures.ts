import type { CheckAnswer, CheckSide, Money } from "./check-answer.js";

/** Formats an amount: `3.2 EUR`, or `nothing` for null. Rounds to a hundredth of a cent. */
export function moneyText(money: Money | null): string {
  return money === null ? "nothing" : `${Number(money.amount.toFixed(4))} ${money.currency}`;
}

/** Formats a share: `70.0 %` for 0.7. */
export function percentText(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function copiesText(count: number): string {
  return count === 1 ? "1 copy" : `${count} copies`;
}

export function tasksText(count: number): string {
  return count === 1 ? "1 task" : `${count} tasks`;
}

/** Formats a success rate: `70.0 % (52.1 % to 85.0 %)`, or `none scored`. */
export function successText({ successRate, interval }: CheckSide): string {
  if (successRate === null) return "none scored";
  const around = interval === null ? "" : ` (${percentText(interval.low)} to ${percentText(interval.high)})`;
  return `${percentText(successRate)}${around}`;
}

/** Formats the results of one side of a regression: `2 of 3 succeeded`. The total counts scored copies only. */
export function resultsText(copies: readonly unknown[]): string {
  const results = copies.map((copy) => toResult(copy));
  const scored = results.filter((result) => result === "succeeded" || result === "failed");
  const succeeded = scored.filter((result) => result === "succeeded").length;
  const unscored = results.length - scored.length;
  return `${succeeded} of ${scored.length} succeeded${unscored === 0 ? "" : `, ${unscored} not scored`}`;
}

/** Returns the result of a copy. A copy is either the result itself, or an object with a member `result`. */
function toResult(copy: unknown): unknown {
  return typeof copy === "object" && copy !== null && "result" in copy ? copy.result : copy;
}

/** The reasons for an undecided check, by the service's keyword. */
const undecided: Readonly<Record<string, string>> = {
  "replay-gone": "replay is gone",
  stopped: "replay was stopped",
  "over-ceiling": "replay reached its ceiling",
  "no-baseline": "no live-config replay to compare with",
  "baseline-unfinished": "the live config's replay did not finish",
  "too-few-scored": "under half the tasks scored on both sides",
};

/**
 * Formats a verdict. Example: `passed: 2 of 20 tasks that both sides scored regressed, 3 may`. The text for an
 * undecided check includes the reason. If no task was compared yet, the text of an unfinished or undecided check says
 * so.
 */
export function verdictText({ verdict, undecidedBecause, regressions, compared, threshold }: CheckAnswer): string {
  const count = `${regressions.length} of ${tasksText(compared)} that both sides scored regressed, ${threshold.mostRegressions} may`;
  if (verdict === "failed") return `failed: ${count}`;
  if (verdict === "passed") return `passed: ${count}`;
  const soFar = compared === 0 ? "no task compared yet" : count;
  if (verdict === "running") return `still checking: ${soFar}${compared === 0 ? "" : " so far"}`;
  return `undecided: ${undecided[undecidedBecause ?? ""] ?? undecidedBecause ?? "no reason was given"}; ${soFar}`;
}

/** Formats the gain of a check; returns null if the check has no gain. The gain does not affect the verdict. */
export function gainText({ gain, threshold }: CheckAnswer): string | null {
  if (gain === null) return null;
  const points = (share: number) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;
  const words = gain.verdict === "within-noise" ? "within noise" : gain.verdict;
  const figures = `${points(gain.gain)} points (${points(gain.low)} to ${points(gain.high)}), ${tasksText(gain.tasks)}`;
  const few = gain.few === true ? ", too few for a reliable result" : "";
  const other = gain.otherScoring === true ? ", the two sides were scored by different rules" : "";
  return `${words}: ${figures}${few}${other}; ${points(threshold.minGain).slice(1)} points count as real`;
}
