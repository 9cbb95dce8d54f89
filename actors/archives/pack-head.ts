import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";

/** Maximum size of a commit object, in bytes. Most have fewer than 1,000. */
const MAX_COMMIT_BYTES = 256 * 1024;
/** Number of bytes before the first object: `PACK`, the version, the number of objects. */
const HEADER_BYTES = 12;
const COMMIT_TYPE = 1;

/**
 * Returns the reason why a pack that starts with these bytes does not belong to this commit; null if it may. Checks
 * git's format, and that the first object is the commit itself. At checkout git verifies the rest by the object ids.
 */
export function faultOfPack(bytes: Uint8Array, commit: string): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (head.length < HEADER_BYTES + 2 || head.toString("latin1", 0, 4) !== "PACK") return "it is not a git pack";
  const [version, objects] = [head.readUInt32BE(4), head.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return "it has an unknown pack version";
  if (objects < 2) return "it has no commit with a tree";
  const first = readObjectHead(head);
  if (first === null || first.type !== COMMIT_TYPE) return "it does not start with a commit";
  if (first.bytes > MAX_COMMIT_BYTES) return "its commit is too long";
  const content = inflated(head.subarray(first.at), first.bytes);
  if (content === null || content.length !== first.bytes) return "its commit cannot be read";
  const algorithm = commit.length === 64 ? "sha256" : "sha1";
  const id = createHash(algorithm).update(`commit ${content.length}\0`).update(content).digest("hex");
  return id === commit ? null : "it starts with a different commit";
}

/** Reads the type and length of the first object, and the start of its compressed bytes. */
function readObjectHead(head: Buffer): { readonly type: number; readonly bytes: number; readonly at: number } | null {
  let at = HEADER_BYTES;
  let byte = head[at] ?? 0;
  const type = (byte >> 4) & 7;
  let bytes = byte & 15;
  // 4 bits, then 7 bits for each byte, lowest first. Five bytes are enough for every accepted length.
  for (let factor = 16; byte >= 0x80; factor *= 128) {
    at += 1;
    if (at > HEADER_BYTES + 5 || at >= head.length) return null;
    byte = head[at] ?? 0;
    bytes += (byte & 127) * factor;
  }
  return { type, bytes, at: at + 1 };
}

function inflated(bytes: Buffer, maxOutputLength: number): Buffer | null {
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, maxOutputLength) });
  } catch {
    return null;
  }
}
