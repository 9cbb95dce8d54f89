import type { Reading } from "../../storage/store.js";
import { fromText } from "../fraction.js";
import { type Money, toAmount } from "../money.js";
import { replayPurses } from "../replays/replay-purse.table.js";
import { bestReasonTexts } from "./rules/best.js";
import type { SearchRow } from "./search.js";
import type { SearchItemView } from "./search-schemas.js";

/** A search without what it spent, as its stream publishes it. */
export type SearchRowView = ReturnType<typeof searchRowView>;

export function searchRowView(row: SearchRow) {
  const { id, lineId, stationId, stationKey, setId, state, ending, agent, budget, objective, best } = row;
  const because = row.bestBecause ?? null;
  const bestBecause = because === null ? null : { code: because, text: bestReasonTexts[because][objective] };
  const { iterationsRun, proposed, startedAt, endedAt } = row;
  return {
    ...{ id, lineId, stationId, stationKey, setId, state, ending, agent, budget, objective },
    ...{ iterationsRun, proposed, best, bestBecause, startedAt, endedAt },
  };
}

/** A search as lists have it. */
export function searchItemView(row: SearchRow, spent: Money): SearchItemView {
  return { ...searchRowView(row), spent };
}

/** What the replays and the agent's runs of a search have spent, in the ceiling's currency. */
export function readSpent(reading: Reading, workspaceId: string, { id, budget: { ceiling } }: SearchRow): Money {
  const purse = replayPurses.get(reading, workspaceId, id);
  return { amount: purse === undefined ? 0 : toAmount(fromText(purse.spent)), currency: ceiling.currency };
}
