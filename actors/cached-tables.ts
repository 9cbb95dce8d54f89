import { sessions } from "./access/accounts/session.table.js";
import { resourceHashes } from "./resources/resource-hash.table.js";
import { configurationTables } from "./resources/resource-indexes.table.js";
import { resourceLocations } from "./resources/resource-location.table.js";

/**
 * Tables whose rows almost every request or step reads. The runtime caches their small rows in memory, so that a read
 * decodes nothing.
 */
export const cachedTables: readonly string[] = [
  ...configurationTables,
  resourceHashes.name,
  resourceLocations.name,
  sessions.name,
];
