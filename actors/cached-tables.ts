import { sessions } from "./access/session.table.js";
import { resourceHashes } from "./resources/resource-hash.table.js";
import { configurationTables } from "./resources/resource-indexes.table.js";
import { resourceLocations } from "./resources/resource-location.table.js";

/**
 * Tables whose rows are read again and again, with every request or step: the runtime holds light ones in memory, so
 * that reading them decodes nothing.
 */
export const cachedTables: readonly string[] = [
  ...configurationTables,
  resourceHashes.name,
  resourceLocations.name,
  sessions.name,
];
