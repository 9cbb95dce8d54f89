import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Where the bearer of a hashed value belongs. */
export interface HashedPlace {
  readonly workspaceId: string;
  readonly id: string;
}

/** `[kind, hash]` */
export const hashes = table<HashedPlace>("resource-hash");

/** The resource of that kind that keeps this hash (SHA-256, hex), in whatever workspace. */
export function resourceByHash(reading: Reading, kind: string, hash: string): HashedPlace | undefined {
  return hashes.get(reading, GLOBAL_PARTITION, kind, hash);
}

export function recordHash(writing: Writing, kind: string, hash: string, place: HashedPlace): void {
  hashes.put(writing, GLOBAL_PARTITION, [kind, hash], place);
}

export function forgetHash(writing: Writing, kind: string, hash: string): void {
  hashes.remove(writing, GLOBAL_PARTITION, kind, hash);
}
