import { createHash } from "node:crypto";

/** Bytes of a pack in one chunk; the last of a pack may have fewer. */
export const CHUNK_BYTES = 512 * 1024;
/** Longest pack that is kept, in bytes. */
export const MAX_PACK_BYTES = 256 * 1024 * 1024;

/** A pack of one commit and its tree, in git's format. */
export interface Pack {
  readonly bytes: number;
  /** The chained digest of its chunks; see {@link chainDigest}. */
  readonly digest: string;
}

/** The digest of no chunks. */
export const NO_CHUNKS = "";

/**
 * The digest (hex) of the chunks so far and one more: the SHA-256 of the text of both digests, one after the other. So
 * each chunk is checked as it comes, the last one gives the digest of the whole, and nothing is read again.
 */
export function chainDigest(before: string, chunk: Uint8Array): string {
  const own = createHash("sha256").update(chunk).digest("hex");
  return createHash("sha256").update(`${before}${own}`).digest("hex");
}

/** Number of chunks of a pack. */
export function countChunks({ bytes }: Pick<Pack, "bytes">): number {
  return Math.ceil(bytes / CHUNK_BYTES);
}
