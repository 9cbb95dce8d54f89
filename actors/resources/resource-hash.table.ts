import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import type { Reading } from "../../storage/store.js";
import { findResource, type ResourceRow } from "./resource.table.js";

/** Where the bearer of a hashed value belongs. */
export interface HashOwner {
  readonly workspaceId: string;
  readonly id: string;
}

/** `[kind, hash]` */
export const resourceHashes = directory<HashOwner>("resource-hash");

/** The resource of that kind that keeps this hash (SHA-256, hex), in whatever workspace. */
export function findResourceByHash<Fields>(
  reading: Reading,
  kind: string,
  hash: string,
): ResourceRow<Fields> | undefined {
  const owner = findHashOwner(reading, kind, hash);
  if (owner === undefined) return undefined;
  const row = findResource<Fields>(reading, owner.workspaceId, kind, owner.id);
  return row !== undefined && Object.values(row.hidden).includes(hash) ? row : undefined;
}

/** What should keep this hash; whether it does, its row tells. */
export function findHashOwner(reading: Reading, kind: string, hash: string): HashOwner | undefined {
  return resourceHashes.find(reading, kind, hash);
}

/** What makes a hash findable; for the turn that writes the thing itself. */
export function hashEntry(kind: string, hash: string, owner: HashOwner): DirectoryEntry {
  return resourceHashes.entry([kind, hash], owner);
}
