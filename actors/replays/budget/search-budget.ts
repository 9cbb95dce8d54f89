import { topic } from "../../../runtime/feeds/topic.js";
import type { Report, Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { add, compare, type Fraction, fromText, subtract, toText, ZERO } from "../../fraction.js";
import { type Money, toAmount } from "../../money.js";
import { reachesCeiling } from "../../statistics/spending.js";
import type { ReplayRow } from "../replay/replay.js";
import { replayRef } from "../replay/replay.messages.js";
import { isUnderWay, replays } from "../replay/replay.table.js";
import { type BudgetLeft, countSpent } from "./replay-ceiling.js";
import { type SearchBudgetRow, searchBudgets } from "./search-budget.table.js";

/**
 * The budget of a search: one ceiling for all its replays and its agent's runs.
 *
 * 1. The budget is one row, whatever the number of copies. The turn that changes the spending of a replay or an agent
 * run also changes this row, by the difference.
 * 2. When the budget becomes full, or is no longer full, the replays in progress are notified.
 */

/** Amounts to add to the budget together. */
export interface Counted {
  /** The amount that counts against the ceiling. */
  readonly counted: Fraction;
  /** The reported amount. */
  readonly spent: Fraction;
}

/** Creates the budget of a search that starts. */
export function openBudget(turn: Turn, { searchId, ceiling }: Pick<SearchBudgetRow, "searchId" | "ceiling">): void {
  const none = toText(ZERO);
  searchBudgets.put(turn, turn.self.partition, searchId, { searchId, ceiling, counted: none, spent: none });
}

/**
 * Returns the search's ceiling, and the amount that counts against the ceiling without this replay. Returns null for a
 * replay outside a search, and if the search's budget is gone. `stored` must be the stored row.
 */
export function findBudgetLeft(turn: TurnReading, stored: ReplayRow): BudgetLeft | null {
  if (stored.search === null) return null;
  const budget = searchBudgets.get(turn, turn.self.partition, stored.search.searchId);
  if (budget === undefined) return null;
  return { ceiling: budget.ceiling, others: subtract(fromText(budget.counted), countSpent(stored)) };
}

/** Writes a replay, and adds the change of its spending to its search's budget. */
export function putReplay(turn: Turn, before: ReplayRow, after: ReplayRow): void {
  replays.put(turn, turn.self.partition, before, after);
  if (before.spending === after.spending) return;
  const { ceiling } = after;
  if (!isFull(countSpent(before), ceiling) && isFull(countSpent(after), ceiling))
    turn.report(reportCeiling("replay", { id: after.id, teamId: after.teamId, ceiling }));
  if (after.search === null) return;
  const counted = subtract(countSpent(after), countSpent(before));
  const spent = subtract(reported(after), reported(before));
  addToBudget(turn, after.search.searchId, { counted, spent });
}

/**
 * Adds to a search's spending; negative amounts subtract. Notifies the other replays in progress when the budget
 * becomes full, or is no longer full.
 */
export function addToBudget(turn: Turn, searchId: string, more: Counted): void {
  if (compare(more.counted, ZERO) === 0 && compare(more.spent, ZERO) === 0) return;
  const { partition, id: self } = turn.self;
  const budget = searchBudgets.get(turn, partition, searchId);
  if (budget === undefined) return;
  const counted = add(fromText(budget.counted), more.counted);
  const spent = add(fromText(budget.spent), more.spent);
  searchBudgets.put(turn, partition, searchId, { ...budget, counted: toText(counted), spent: toText(spent) });
  publishSpent(turn, budget, spent);
  if (isFull(fromText(budget.counted), budget.ceiling) === isFull(counted, budget.ceiling)) return;
  if (isFull(counted, budget.ceiling)) turn.report(reportCeiling("search", { id: searchId, ceiling: budget.ceiling }));
  const others = replays
    .all(turn, partition, { searchId })
    .filter((replay) => isUnderWay(replay) && replay.id !== self);
  for (const { id } of others) turn.send(replayRef(partition, id), { type: "purse.moved" });
}

/** Changes of a search's spending on the search's stream. */
const searchTopic = topic<{ readonly type: "spent"; readonly spent: Money }>("search");

function publishSpent(
  turn: Turn,
  { searchId, ceiling: { currency }, spent: before }: SearchBudgetRow,
  spent: Fraction,
): void {
  const [was, now] = [toAmount(fromText(before)), toAmount(spent)];
  if (was === now) return;
  turn.publishChange(searchTopic(searchId), { type: "spent", spent: { amount: now, currency } });
}

/** Reports that the spending of a replay or a search reached its ceiling. */
function reportCeiling(
  of: "replay" | "search",
  { id, teamId, ceiling }: { readonly id: string; readonly teamId?: string; readonly ceiling: Money },
): Report {
  const { amount, currency } = ceiling;
  return {
    name: "ceiling.reached",
    line: { level: "warn", message: "money ceiling reached" },
    details: { of, [`${of}Id`]: id, ...(teamId !== undefined && { teamId }), ceiling: amount, currency },
  };
}

function isFull(counted: Fraction, ceiling: Money): boolean {
  return reachesCeiling(counted, ceiling);
}

/** Returns a replay's reported spending, including the part that its copies did not cause. */
function reported({ spending }: ReplayRow): Fraction {
  return add(fromText(spending.spent), fromText(spending.besides));
}
