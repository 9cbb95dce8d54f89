import { table } from "../../../storage/table.js";
import type { Money } from "../../money.js";

/** The shared budget of a search's replays and its agent's runs, with their spending. */
export interface SearchBudgetRow {
  readonly searchId: string;
  readonly ceiling: Money;
  /** The amount that counts against the ceiling, as a fraction in its currency (`fraction.ts`, `toText`). */
  readonly counted: string;
  /**
   * The reported part of `counted`: without the shares for work that reported no cost. Includes estimates for model
   * calls in progress.
   */
  readonly spent: string;
}

/** Key: `[search]` */
export const searchBudgets = table<SearchBudgetRow>("replay-purse");
