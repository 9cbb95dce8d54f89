import type { HeldTables } from "../runtime/row-cache.js";
import { firingEvents, firings } from "./hooks/occurrence-rows.js";
import { configurationTables } from "./resources/indexes.js";

/** Tables whose rows the runtime holds in memory. */
export const heldTables: HeldTables = {
  readOften: configurationTables,
  readSoon: [firings.name, firingEvents.name],
};
