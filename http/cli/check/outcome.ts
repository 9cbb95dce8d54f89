import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import type { CheckAnswer } from "./check-answer.js";

/**
 * The outcome for a station or another part of a plan. `title` is the part's name in messages: for example
 * `<team>/<line>/<station>`.
 */
export type Outcome =
  | { readonly title: string; readonly what: "checked"; readonly check: CheckAnswer }
  | { readonly title: string; readonly what: "still-running"; readonly check: CheckAnswer; readonly why: string }
  | { readonly title: string; readonly what: "nothing-to-replay"; readonly why: string }
  /**
   * `check` is the started check, which continues although its verdict could not be read. `check` is null if no check
   * is known to have started.
   */
  | { readonly title: string; readonly what: "not-asked"; readonly why: string; readonly check: CheckAnswer | null };

/** The verdict, as printed. */
export type Verdict = "failed" | "could not be asked" | "undecided" | "passed" | "nothing to replay";

/** The verdicts as exit codes. A change with nothing to replay passes. */
export const verdictCodes: Readonly<Record<Verdict, ExitCode>> = {
  failed: exitCodes.failed,
  "could not be asked": exitCodes["no-service"],
  undecided: exitCodes.undecided,
  passed: exitCodes.done,
  "nothing to replay": exitCodes.done,
};

/**
 * Verdicts, worst first. A failure comes before a check that could not be asked, for two reasons. A failure is final. A
 * pipeline may tolerate exit code 3, so that a stopped service does not block changes, but it must still see a failed
 * check.
 */
const worstFirst: readonly Verdict[] = ["failed", "could not be asked", "undecided", "passed", "nothing to replay"];

export function toVerdict(outcome: Outcome): Verdict {
  if (outcome.what === "not-asked") return "could not be asked";
  if (outcome.what === "nothing-to-replay") return "nothing to replay";
  const { verdict } = outcome.check;
  return verdict === "running" ? "undecided" : verdict;
}

/** Returns the worst verdict; `nothing to replay` if there are no outcomes. */
export function toWorst(outcomes: readonly Outcome[]): Verdict {
  const verdicts = new Set(outcomes.map(toVerdict));
  return worstFirst.find((verdict) => verdicts.has(verdict)) ?? "nothing to replay";
}
