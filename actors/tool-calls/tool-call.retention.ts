import { runs } from "../runs/run.table.js";
import { indexedOwnedBy, type OwnedRows, ownedBy } from "../tables/owned-rows.js";
import { callUses, toolCalls } from "./tool-call.table.js";

/** The rows of calls are removed with their run. */
export const toolCallsOwned: readonly OwnedRows[] = [
  indexedOwnedBy(runs.name, toolCalls),
  ownedBy(runs.name, callUses),
];
