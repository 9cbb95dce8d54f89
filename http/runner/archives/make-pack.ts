import { closeSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { CHUNK_BYTES, chainDigest, MAX_PACK_BYTES, NO_CHUNKS, type Pack } from "../../../actors/archives/pack.js";
import { gitOutput, OutputTooLong } from "../checkout/git.js";

/** The commit to pack, and the file to write the pack to. */
export interface PackWish {
  readonly mirror: string;
  readonly commit: string;
  readonly file: string;
  readonly signal: AbortSignal;
  readonly maxBytes?: number;
}

/**
 * Writes a pack of one commit and its tree, without the commit's history. Returns null if the pack exceeds the limit.
 * Rejects with git's error.
 */
export async function makePack({
  mirror,
  commit,
  file,
  signal,
  maxBytes = MAX_PACK_BYTES,
}: PackWish): Promise<Pack | null> {
  const to = openSync(file, "w", 0o600);
  // Treat the commit as if it had no parents.
  const input = `--shallow ${commit}\n${commit}\n`;
  // Reuse the deltas that git has stored. A search for more deltas would take minutes and save little space.
  const args = ["pack-objects", "--revs", "--stdout", "--quiet", "--threads=1", "--window=0", "--delta-base-offset"];
  try {
    await gitOutput(mirror, [...args, "--no-use-bitmap-index"], { input, signal, maxBytes }, (bytes) => {
      writeSync(to, bytes);
    });
  } catch (error) {
    if (error instanceof OutputTooLong) return null;
    throw error;
  } finally {
    closeSync(to);
  }
  return describePack(file);
}

/** Computes the length and the digest of a pack file. */
export async function describePack(file: string): Promise<Pack> {
  let [bytes, digest] = [0, NO_CHUNKS];
  for await (const chunk of readChunks(file, 0)) {
    bytes += chunk.length;
    digest = chainDigest(digest, chunk);
  }
  return { bytes, digest };
}

/** Reads the chunks of a pack file, starting at chunk number `from`. */
export async function* readChunks(file: string, from: number): AsyncGenerator<Buffer> {
  const handle = await open(file, "r");
  try {
    for (let n = from; ; n++) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(chunk, length, CHUNK_BYTES - length, n * CHUNK_BYTES + length);
        length += bytesRead;
        if (bytesRead === 0 || length === CHUNK_BYTES) break;
      }
      if (length === 0) return;
      yield chunk.subarray(0, length);
      if (length < CHUNK_BYTES) return;
    }
  } finally {
    await handle.close();
  }
}
