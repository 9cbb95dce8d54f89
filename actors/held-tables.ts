import { firingEvents } from "./hooks/occurrence-rows.js";
import { configurationTables } from "./resources/indexes.js";

/** Tables whose rows the runtime holds in memory: read again and again, or soon after they were written. */
export const heldTables: readonly string[] = [...configurationTables, firingEvents.name];
