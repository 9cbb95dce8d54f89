import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Where the bearer of a hashed value belongs. */
export interface HashOwner {
  readonly workspaceId: string;
  readonly id: string;
}

/** `[kind, hash]` */
export const resourceHashes = table<HashOwner>("resource-hash");

/** The resource of that kind that keeps this hash (SHA-256, hex), in whatever workspace. */
export function findResourceByHash(reading: Reading, kind: string, hash: string): HashOwner | undefined {
  return resourceHashes.get(reading, GLOBAL_PARTITION, kind, hash);
}

export function indexHash(writing: Writing, kind: string, hash: string, place: HashOwner): void {
  resourceHashes.put(writing, GLOBAL_PARTITION, [kind, hash], place);
}

export function unindexHash(writing: Writing, kind: string, hash: string): void {
  resourceHashes.remove(writing, GLOBAL_PARTITION, kind, hash);
}
