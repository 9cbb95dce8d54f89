import { hashes } from "./resources/hash-index.js";
import { configurationTables } from "./resources/indexes.js";
import { places } from "./resources/place.js";

/**
 * Tables whose rows are read again and again, with every request or step: the runtime holds light ones in memory, so
 * that reading them decodes nothing.
 */
export const heldTables: readonly string[] = [...configurationTables, hashes.name, places.name];
