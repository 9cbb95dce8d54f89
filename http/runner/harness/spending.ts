import { addMoney } from "../../../actors/money.js";
import type { Spent } from "../../../actors/runners/protocol.js";

/** The costs and models that a run's agent reports. */
export class Spending {
  /** The sum of all costs; null if the agent reported none. */
  spent: Spent | null = null;
  /** The model of the latest cost that names a model; null if no cost names a model. */
  model: string | null = null;

  /**
   * Adds a cost and returns null. If the cost has another currency than earlier costs, leaves the sum unchanged and
   * returns an error message.
   */
  add(spent: Spent, model: string | null): string | null {
    if (model !== null) this.model = model;
    const before = this.spent ?? { amount: 0, currency: spent.currency };
    const sum = addMoney(before, spent);
    if (sum === null) return `a cost in ${spent.currency} cannot be added to one in ${before.currency}`;
    this.spent = sum;
    return null;
  }
}
