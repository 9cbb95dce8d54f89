import { type DirectoryEntry, directory } from "../../runtime/directories/directory.js";
import type { Reading } from "../../storage/store.js";
import { findResource, type ResourceRow } from "./resource.table.js";

/** The resource that a hashed value belongs to. */
export interface HashOwner {
  readonly workspaceId: string;
  readonly id: string;
}

/** Key: `[kind, hash]`. */
export const resourceHashes = directory<HashOwner>("resource-hash");

/** Finds the resource of this kind, in any workspace, that has this hash (SHA-256, hex). Undefined if there is none. */
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

/**
 * Finds the owner of this hash in the directory; undefined if there is none. The caller must check in the owner's row
 * that the owner still has the hash.
 */
export function findHashOwner(reading: Reading, kind: string, hash: string): HashOwner | undefined {
  return resourceHashes.find(reading, kind, hash);
}

/** Returns the directory entry of a hash. The turn that writes the resource with this hash writes this entry too. */
export function hashEntry(kind: string, hash: string, owner: HashOwner): DirectoryEntry {
  return resourceHashes.entry([kind, hash], owner);
}
