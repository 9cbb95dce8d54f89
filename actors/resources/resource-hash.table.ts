import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import type { Reading } from "../../storage/store.js";
import { findResource, type ResourceRow } from "./resource.table.js";

/** The resource to which a hashed value belongs. */
export interface HashOwner {
  readonly workspaceId: string;
  readonly id: string;
}

/** `[kind, hash]` */
export const resourceHashes = directory<HashOwner>("resource-hash");

/** The resource of that kind with this hash (SHA-256, hex), in any workspace. */
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

/** The owner of this hash by the directory; check its row, which decides. */
export function findHashOwner(reading: Reading, kind: string, hash: string): HashOwner | undefined {
  return resourceHashes.find(reading, kind, hash);
}

/** The directory entry of a hash; for the turn that writes the resource itself. */
export function hashEntry(kind: string, hash: string, owner: HashOwner): DirectoryEntry {
  return resourceHashes.entry([kind, hash], owner);
}
