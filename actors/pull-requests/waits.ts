import { MAX_ATTEMPTS, retryWaitMs } from "../outbound/http/retry-wait.js";
import type { CodeHostProblem } from "./code-host-answer.js";

/** Maximum number of attempts to open a pull request whose branch the code host does not know yet. */
const MAX_HEAD_ATTEMPTS = 3;

/**
 * Whether to try again to open a pull request, after `attempts` attempts. `problem` is the result of the last attempt.
 *
 * - If the code host refused the field `head`: yes, up to {@link MAX_HEAD_ATTEMPTS} attempts in total. Right after a
 *   push, the code host may refuse this field until all its servers know the branch.
 * - If the code host refused anything else: no.
 * - After any other problem: yes, up to {@link MAX_ATTEMPTS} attempts in total.
 */
export function isOpenedAgain(problem: CodeHostProblem, attempts: number): boolean {
  if (problem.problem === "refused") return problem.fields?.includes("head") === true && attempts < MAX_HEAD_ATTEMPTS;
  return attempts < MAX_ATTEMPTS;
}

/** Returns the time of the next attempt: the end of the rate limit, or now plus the wait after this attempt. */
export function findWait(problem: CodeHostProblem, attempt: number, nowMs: number): number {
  return problem.problem === "limited" ? problem.untilMs : nowMs + retryWaitMs(Math.max(1, attempt));
}
