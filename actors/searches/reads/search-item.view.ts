import type { Reading } from "../../../storage/store.js";
import { fromText } from "../../fraction.js";
import { type Money, toAmount } from "../../money.js";
import { searchBudgets } from "../../replays/budget/search-budget.table.js";
import { defineView, type Shown } from "../../view.js";
import { bestReasonTexts } from "../rules/best.js";
import type { SearchRow } from "../search/search.js";
import { type SearchItemView, searchItemSchema } from "./search-schemas.js";

const bestBecause = ({ bestBecause: code = null, objective }: SearchRow) =>
  code === null ? null : { code, text: bestReasonTexts[code][objective] };

const searchRowSchema = searchItemSchema.omit({ spent: true });
/** A search without its spending, in the form that its stream publishes. */
export type SearchRowView = Shown<typeof searchRowSchema>;

/** Shows a search without its spending. */
export const searchRowView = defineView<SearchRow>()(searchRowSchema, { bestBecause });

const showItem = defineView<SearchRow, Money>()(searchItemSchema, { bestBecause, spent: (_row, spent) => spent });

/** Shows a search in lists. */
export function searchItemView(row: SearchRow, spent: Money): SearchItemView {
  return showItem(row, spent);
}

/** Returns the spending of a search's replays and agent runs, in the ceiling's currency. */
export function readSpent(reading: Reading, workspaceId: string, { id, budget: { ceiling } }: SearchRow): Money {
  const searchBudget = searchBudgets.get(reading, workspaceId, id);
  return {
    amount: searchBudget === undefined ? 0 : toAmount(fromText(searchBudget.spent)),
    currency: ceiling.currency,
  };
}
