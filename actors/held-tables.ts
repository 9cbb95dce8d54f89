import { configurationTables } from "./resources/indexes.js";

/** Tables whose rows are read again and again: the runtime holds light ones in memory, so that reading them decodes nothing. */
export const heldTables: readonly string[] = configurationTables;
