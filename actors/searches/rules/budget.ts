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

/** Maximum number of candidates to hold out. */
export const MAX_HELD_OUT = 3;

/**
 * Returns how many candidates may be held out: at most {@link MAX_HELD_OUT}, and at most as many as may be proposed.
 */
export function heldOutReplays({ iterations, perIteration }: SearchBudget): number {
  return Math.min(MAX_HELD_OUT, iterations * perIteration);
}
