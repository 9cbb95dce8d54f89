import type { Money } from "../../money.js";

/** The limits of a search that its rules need (document 2, "Searches API": `budget`). */
export interface SearchBudget {
  /** Maximum number of agent runs, including reflections, and maximum number of candidates that one run may propose. */
  readonly iterations: number;
  readonly perIteration: number;
  /** Number of copies of each run in every replay. */
  readonly repeats: number;
  /** Maximum spending of the whole search. */
  readonly ceiling: Money;
}

/** Maximum number of candidates that are replayed on the held-out runs. */
export const MAX_HELD_OUT = 3;

/**
 * Returns the maximum number of replays on held-out runs: one for each of the best {@link MAX_HELD_OUT} candidates, or
 * fewer if fewer candidates may be proposed.
 */
export function heldOutReplays({ iterations, perIteration }: SearchBudget): number {
  return Math.min(MAX_HELD_OUT, iterations * perIteration);
}
