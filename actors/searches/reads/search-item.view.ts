import type { Reading } from "../../../storage/store.js";
import { fromText } from "../../fraction.js";
import { type Money, toAmount } from "../../money.js";
import { replayPurses } from "../../replays/budget/replay-purse.table.js";
import { bestReasonTexts } from "../rules/best.js";
import type { SearchRow } from "../search/search.js";
import type { SearchItemView } from "./search-schemas.js";

/** A search without its spending, in the form that its stream publishes. */
export type SearchRowView = ReturnType<typeof searchRowView>;

/** Shows a search without its spending. */
export function searchRowView(row: SearchRow) {
  const { id, lineId, stationId, stationKey, setId, state, ending, agent, budget, objective, best } = row;
  const because = row.bestBecause ?? null;
  const bestBecause = because === null ? null : { code: because, text: bestReasonTexts[because][objective] };
  const { iterationsRun, proposed, startedAt, endedAt } = row;
  return {
    id,
    lineId,
    stationId,
    stationKey,
    setId,
    state,
    ending,
    agent,
    budget,
    objective,
    iterationsRun,
    proposed,
    best,
    bestBecause,
    startedAt,
    endedAt,
  };
}

/** Shows a search in lists. */
export function searchItemView(row: SearchRow, spent: Money): SearchItemView {
  return { ...searchRowView(row), spent };
}

/** Returns the spending of a search's replays and agent runs, in the ceiling's currency. */
export function readSpent(reading: Reading, workspaceId: string, { id, budget: { ceiling } }: SearchRow): Money {
  const purse = replayPurses.get(reading, workspaceId, id);
  return { amount: purse === undefined ? 0 : toAmount(fromText(purse.spent)), currency: ceiling.currency };
}
