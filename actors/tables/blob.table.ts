import type { Entry } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The use of a body; see `blobs.ts`. */

export interface BlobUse {
  /** Number of rows that refer to the body. */
  readonly count: number;
  /** Time since which the body has no references; null while it has some. */
  readonly unusedSinceMs: number | null;
}

/** Key: `[digest]`. */
export const bodies = table<Uint8Array>("blob");
/** Key: `[digest]`. */
export const uses = table<BlobUse>("blob-use");
/** Key: `[unused since (ms), digest]`. Value: true. */
export const unused = table<true>("blob-unused");

export const WAITS = "waits";
/** Key: `["waits"]`. Value: true. The row exists while the sweeper has been notified and some body is unused. */
export const sweeping = table<true>("blob-sweep");

/** Parses the key of an unused body. */
export function toUnused({ key }: Entry): { readonly sinceMs: number; readonly digest: string } {
  return { sinceMs: Number(key.at(-2)), digest: String(key.at(-1)) };
}
