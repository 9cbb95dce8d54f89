import type { Money } from "../../money.js";

/** What bounds a search, as far as rules are concerned (document 2, "Searches API": `budget`). */
export interface SearchBudget {
  /** How many times the agent runs, reflecting included, and how many candidates each of its runs may propose. */
  readonly iterations: number;
  readonly perIteration: number;
  /** Copies of each run, in every replay. */
  readonly repeats: number;
  /** The most that the whole search spends. */
  readonly ceiling: Money;
}

/** The most candidates that are held out. */
export const MAX_HELD_OUT = 3;

/** How many candidates may be held out: not more than may be proposed. */
export function heldOutReplays({ iterations, perIteration }: SearchBudget): number {
  return Math.min(MAX_HELD_OUT, iterations * perIteration);
}
