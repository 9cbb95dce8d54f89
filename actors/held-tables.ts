import type { HeldTables } from "../runtime/row-cache.js";
import { begunFirings } from "./hooks/occurrence-rows.js";
import { configurationTables } from "./resources/indexes.js";

/** Tables whose rows the runtime holds in memory. */
export const heldTables: HeldTables = {
  readOften: configurationTables,
  readSoon: [begunFirings.name],
};
