import type { CodeHostProblem } from "./code-host-answer.js";

/** Most attempts at something that the code host is asked to do. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/** The wait after this attempt, from 1, in milliseconds: 2 seconds, doubling up to 1 hour. */
export function waitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

/** Most attempts to open a pull request of a branch that the code host does not know yet. */
const MAX_HEAD_ATTEMPTS = 3;

/**
 * Whether to ask again for a pull request after so many attempts. The branch was written right before, and the code host
 * may refuse it as `head` until all of it knows the branch.
 */
export function isOpenedAgain(problem: CodeHostProblem, attempts: number): boolean {
  if (problem.problem === "refused") return problem.fields?.includes("head") === true && attempts < MAX_HEAD_ATTEMPTS;
  return attempts < MAX_ATTEMPTS;
}

/** When to ask again after a problem: when the code host takes more, or after the wait of the attempt. */
export function findWait(problem: CodeHostProblem, attempt: number, nowMs: number): number {
  return problem.problem === "limited" ? problem.untilMs : nowMs + waitMs(Math.max(1, attempt));
}
