import type { CheckAnswer } from "./check-answer.js";

/** What became of a station that a plan changes. `title` is `<team>/<line>/<station>`, or a line, or the plan. */
export type Outcome =
  | { readonly title: string; readonly what: "checked"; readonly check: CheckAnswer }
  | { readonly title: string; readonly what: "still-running"; readonly check: CheckAnswer; readonly why: string }
  | { readonly title: string; readonly what: "nothing-to-replay"; readonly why: string }
  /** `check` is the one that goes on all the same, where it was started. */
  | { readonly title: string; readonly what: "not-asked"; readonly why: string; readonly check: CheckAnswer | null };

/** In words: `passed`, `failed`, `undecided`, `could not be asked`. */
export type Verdict = "failed" | "could not be asked" | "undecided" | "passed" | "nothing to replay";

/** What the command ends with. Nothing to replay is no reason against a change. */
export const exitCodes: Readonly<Record<Verdict, number>> = {
  failed: 1,
  "could not be asked": 3,
  undecided: 2,
  passed: 0,
  "nothing to replay": 0,
};

/**
 * The worst first. A failure outweighs a check that could not be asked, since it never becomes anything else, and since
 * who lets 3 pass (a service that is down shall not block) must not let a failed check pass with it.
 */
const worstFirst: readonly Verdict[] = ["failed", "could not be asked", "undecided", "passed", "nothing to replay"];

export function verdictOf(outcome: Outcome): Verdict {
  if (outcome.what === "not-asked") return "could not be asked";
  if (outcome.what === "nothing-to-replay") return "nothing to replay";
  const { verdict } = outcome.check;
  return verdict === "running" ? "undecided" : verdict;
}

/** The worst verdict of all; without any, there was nothing to replay. */
export function worstOf(outcomes: readonly Outcome[]): Verdict {
  const verdicts = new Set(outcomes.map(verdictOf));
  return worstFirst.find((verdict) => verdicts.has(verdict)) ?? "nothing to replay";
}
