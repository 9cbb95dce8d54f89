import type { Entry } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The rows of bodies; `blobs.ts` says how they hold together. */

export interface BlobUse {
  /** Rows that refer to it. */
  readonly count: number;
  /** Since when none does; null while one does. */
  readonly unusedSinceMs: number | null;
}

/** `[digest]` */
export const bodies = table<Uint8Array>("blob");
/** `[digest]` */
export const uses = table<BlobUse>("blob-use");
/** `[unused since (ms), digest]` -> true */
export const unused = table<true>("blob-unused");

export const WAITS = "waits";
/** `["waits"]` -> true: the sweeper was told that there is an unused one. */
export const sweeping = table<true>("blob-sweep");

/** What the key of an unused body says. */
export function toUnused({ key }: Entry): { readonly sinceMs: number; readonly digest: string } {
  return { sinceMs: Number(key.at(-2)), digest: String(key.at(-1)) };
}
