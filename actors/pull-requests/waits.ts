import type { CodeHostProblem } from "./code-host-answer.js";

/** Most attempts at something that the code host is asked to do. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/** The wait after this attempt, from 1, in milliseconds: 2 seconds, doubling up to 1 hour. */
export function waitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

/** When to ask again after a problem: when the code host takes more, or after the wait of the attempt. */
export function findWait(problem: CodeHostProblem, attempt: number, nowMs: number): number {
  return problem.problem === "limited" ? problem.untilMs : nowMs + waitMs(Math.max(1, attempt));
}
