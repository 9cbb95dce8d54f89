import type { CodeHostProblem } from "./code-host-answer.js";

/** Maximum number of attempts at a request to the code host. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/** Returns the wait after an attempt, counted from 1, in milliseconds: 2 seconds, doubled up to 1 hour. */
export function waitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

/** Maximum number of attempts to open a pull request whose branch the code host does not know yet. */
const MAX_HEAD_ATTEMPTS = 3;

/**
 * Whether to retry after this many attempts to open a pull request. The branch was just pushed, and the code host may
 * refuse it as `head` until all its servers know the branch.
 */
export function isOpenedAgain(problem: CodeHostProblem, attempts: number): boolean {
  if (problem.problem === "refused") return problem.fields?.includes("head") === true && attempts < MAX_HEAD_ATTEMPTS;
  return attempts < MAX_ATTEMPTS;
}

/** Returns the time of the next attempt: the end of the rate limit, or after the wait of the attempt. */
export function findWait(problem: CodeHostProblem, attempt: number, nowMs: number): number {
  return problem.problem === "limited" ? problem.untilMs : nowMs + waitMs(Math.max(1, attempt));
}
