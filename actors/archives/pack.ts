import { createHash } from "node:crypto";

/** Number of bytes in one chunk of a pack. The last chunk may have fewer. */
export const CHUNK_BYTES = 512 * 1024;
/** Maximum size of a pack, in bytes. */
export const MAX_PACK_BYTES = 256 * 1024 * 1024;

/** A pack of one commit and its tree, in git's format. */
export interface Pack {
  readonly bytes: number;
  /** The chained digest of the pack's chunks; see {@link chainDigest}. */
  readonly digest: string;
}

/** The digest of zero chunks. */
export const NO_CHUNKS = "";

/**
 * Extends a chained digest by one chunk. Returns the SHA-256 (hex) of the earlier digest followed by the digest of the
 * chunk. The service extends the digest when a chunk arrives. So after the last chunk it need not read the stored
 * chunks again.
 */
export function chainDigest(before: string, chunk: Uint8Array): string {
  const own = createHash("sha256").update(chunk).digest("hex");
  return createHash("sha256").update(`${before}${own}`).digest("hex");
}

/** Number of chunks of a pack. */
export function countChunks({ bytes }: Pick<Pack, "bytes">): number {
  return Math.ceil(bytes / CHUNK_BYTES);
}
