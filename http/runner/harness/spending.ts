import { addMoney } from "../../../actors/money.js";
import type { Spent } from "../../../actors/runners/protocol.js";

/** What a run's agent says that it spent, and on which model. */
export class Spending {
  /** The sum; null for nothing said. */
  spent: Spent | null = null;
  /** The model that was last named; null for none. */
  model: string | null = null;

  /** Adds a cost; returns why it cannot be, or null. */
  add(spent: Spent, model: string | null): string | null {
    if (model !== null) this.model = model;
    const before = this.spent ?? { amount: 0, currency: spent.currency };
    const sum = addMoney(before, spent);
    if (sum === null) return `a cost in ${spent.currency} cannot be added to one in ${before.currency}`;
    this.spent = sum;
    return null;
  }
}
